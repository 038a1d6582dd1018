package pass

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Checker knows whether a pass counts now. The pass is good by its signature; it may be
// past its end by Config.MaxSession. Check is called for every request that shows one, so
// it blocks briefly, remembers, and is safe for concurrent use. An error means that it
// does not know.
type Checker interface {
	Check(ctx context.Context, room, token string) (valid bool, err error)
}

// OnlineConfig is what NewOnline needs to know.
type OnlineConfig struct {
	// AnteroomURL is scheme and host of the Anteroom server, such as
	// https://queue.example; required.
	AnteroomURL string
	// Client asks it; nil is one with timeouts that follows no redirects.
	Client *http.Client
	// Fresh is for how long an answer counts. Default 1 s.
	Fresh time.Duration
	// Timeout ends a question. Default 250 ms.
	Timeout time.Duration
	// Entries bounds the answers that are kept, of about 300 bytes each. Default 20,000.
	Entries int
	// Logger gets a warning when Anteroom stops answering and a line when it is back; nil
	// logs nothing. Passes are not logged.
	Logger *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// patience is how many questions in a row fail before Anteroom counts as away. Then one
// question in pause goes out and nobody else waits.
const (
	patience = 5
	pause    = time.Second
)

// Online asks an Anteroom server about passes. Requests that show one pass at the same
// time share a question, and its answer counts for Fresh from when it was asked. It has
// goroutines only while it asks, for Timeout at most.
type Online struct {
	cfg  OnlineConfig
	host string

	mu         sync.Mutex // never held while asking
	young, old map[question]*flight
	turned     time.Time // when young was begun
	failures   int       // in a row
	next       time.Time // of the next question, while Anteroom is away
	lastErr    error
}

// question is the digest of a room and a token: shorter than a token, and no secret.
type question [sha256.Size]byte

// flight is a question and, when done is closed, its answer.
type flight struct {
	asked time.Time
	done  chan struct{}
	valid bool
	err   error
}

// answered reports whether the answer is here.
func (f *flight) answered() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// NewOnline checks the configuration. It asks nothing yet.
func NewOnline(cfg OnlineConfig) (*Online, error) {
	host, err := hostURL("AnteroomURL", cfg.AnteroomURL)
	if err != nil {
		return nil, err
	}
	if cfg.Fresh <= 0 {
		cfg.Fresh = time.Second
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 250 * time.Millisecond
	}
	if cfg.Entries <= 0 {
		cfg.Entries = 20_000
	}
	if cfg.Client == nil {
		cfg.Client = newClient(cfg.Timeout)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Online{cfg: cfg, host: host, young: map[question]*flight{}}, nil
}

// Check implements Checker. Its errors wrap ErrOnline.
func (o *Online) Check(ctx context.Context, room, token string) (bool, error) {
	f, err := o.look(ctx, room, token)
	if err != nil {
		return false, err
	}
	select {
	case <-f.done:
		return f.valid, f.err
	case <-ctx.Done():
		return false, fmt.Errorf("%w: %w", ErrOnline, ctx.Err())
	}
}

// look returns the question about a pass whose answer counts or is on its way, and asks
// it where there is none.
func (o *Online) look(ctx context.Context, room, token string) (*flight, error) {
	q := question(sha256.Sum256([]byte(room + "\x00" + token)))
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.cfg.Now()
	for _, known := range []map[question]*flight{o.young, o.old} {
		f := known[q]
		if f != nil && (!f.answered() || f.err == nil && now.Sub(f.asked) < o.cfg.Fresh) {
			return f, nil
		}
	}
	if o.failures >= patience {
		if now.Before(o.next) {
			return nil, o.lastErr
		}
		o.next = now.Add(pause)
	}
	f := &flight{asked: now, done: make(chan struct{})}
	o.keep(q, f)
	go o.ask(context.WithoutCancel(ctx), f, room, token)
	return f, nil
}

// keep remembers a question. There are two halves: the older one goes as a whole when the
// younger one is full or all that is in the older one has aged.
func (o *Online) keep(q question, f *flight) {
	if len(o.young) >= max(1, o.cfg.Entries/2) || f.asked.Sub(o.turned) >= o.cfg.Fresh {
		o.old, o.young, o.turned = o.young, map[question]*flight{}, f.asked
	}
	o.young[q] = f
}

// ask belongs to no caller: one that gives up does not take the others' answer away.
func (o *Online) ask(ctx context.Context, f *flight, room, token string) {
	ctx, cancel := context.WithTimeout(ctx, o.cfg.Timeout)
	defer cancel()
	var answer struct {
		Valid *bool `json:"valid"`
	}
	err := post(ctx, o.cfg.Client, endpoint(o.host, room, "check"), map[string]string{"pass": token}, &answer)
	if err == nil && answer.Valid == nil {
		err = fmt.Errorf("the answer does not say valid")
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrOnline, err)
	} else {
		f.valid = *answer.Valid
	}
	o.heard(f, err)
}

// heard closes f and notes how Anteroom fares.
func (o *Online) heard(f *flight, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f.err = err
	close(f.done)
	if err == nil {
		if o.failures >= patience {
			o.cfg.Logger.Info("the online check is back", "url", o.host)
		}
		o.failures, o.lastErr = 0, nil
		return
	}
	if o.failures++; o.failures == patience {
		o.next = o.cfg.Now().Add(pause)
		o.cfg.Logger.Warn("the online check fails; passes are judged without it", "url", o.host, "error", err)
	}
	o.lastErr = err
}
