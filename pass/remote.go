package pass

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	defaultFresh = 5 * time.Minute // when the server names no max-age
	firstRetry   = time.Second     // until there is a first set
	maxKeySet    = 64 << 10        // bytes
)

// RemoteConfig is what RemoteKeys needs to know.
type RemoteConfig struct {
	// URL is the JWKS, such as https://queue.example/.well-known/jwks.json; required.
	URL string
	// Client fetches it; nil is a client that follows no redirects.
	Client *http.Client
	// Timeout ends a fetch. Default 3 s.
	Timeout time.Duration
	// MinFresh and MaxFresh bound the max-age that the server names: the set is fetched
	// anew after that time. Defaults 1 min and 1 h.
	MinFresh, MaxFresh time.Duration
	// Retry is the least time between two fetches, whatever key ids come in. Default 10 s.
	Retry time.Duration
	// Logger gets a warning for each fetch that fails; nil logs nothing.
	Logger *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// RemoteKeys fetches the JWKS of an Anteroom server and keeps it. Known keys are answered
// from memory, also while a set that has aged is fetched anew behind the scenes; only a
// caller with an unknown key id waits for the network. A fetch that fails or brings
// nonsense leaves the keys as they are. It is safe for concurrent use, and has a
// goroutine only while it fetches, for Timeout at most.
type RemoteKeys struct {
	cfg RemoteConfig

	mu      sync.Mutex // never held while fetching
	keys    StaticKeys
	staleAt time.Time
	tried   time.Time
	lastErr error
	flight  chan struct{} // closed when the running fetch ends; nil without one
}

// NewRemoteKeys checks the configuration. The first call of Key fetches.
func NewRemoteKeys(cfg RemoteConfig) (*RemoteKeys, error) {
	if _, err := siteURL("URL", cfg.URL); err != nil {
		return nil, err
	}
	if cfg.Client == nil {
		cfg.Client = &http.Client{CheckRedirect: noRedirect}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&cfg.Timeout, 3 * time.Second}, {&cfg.Retry, 10 * time.Second},
		{&cfg.MinFresh, time.Minute}, {&cfg.MaxFresh, time.Hour},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if cfg.MinFresh > cfg.MaxFresh {
		return nil, errors.New("pass: MinFresh is longer than MaxFresh")
	}
	return &RemoteKeys{cfg: cfg}, nil
}

// Key implements Keys.
func (r *RemoteKeys) Key(ctx context.Context, kid string) (ed25519.PublicKey, error) {
	key, flight := r.look(kid)
	if key == nil && flight != nil {
		select {
		case <-flight:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ErrUnknownKey, ctx.Err())
		}
	}
	if key != nil {
		return key, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if key := r.keys[kid]; key != nil {
		return key, nil
	}
	if r.lastErr != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknownKey, r.lastErr)
	}
	return nil, ErrUnknownKey
}

// look returns the key, if it is known, and the running fetch, if there is one. It starts
// one that is due; the callers of the same moment share it.
func (r *RemoteKeys) look(kid string) (ed25519.PublicKey, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key, now, retry := r.keys[kid], r.cfg.Now(), r.cfg.Retry
	if r.keys == nil {
		retry = min(retry, firstRetry)
	}
	wanted := key == nil || !now.Before(r.staleAt)
	allowed := r.flight == nil && (r.tried.IsZero() || now.Sub(r.tried) >= retry)
	if wanted && allowed {
		r.tried, r.flight = now, make(chan struct{})
		go r.refresh(now, r.flight)
	}
	return key, r.flight
}

// refresh belongs to no caller: one that gives up does not take the others' keys away.
func (r *RemoteKeys) refresh(now time.Time, done chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), r.cfg.Timeout)
	defer cancel()
	keys, fresh, err := r.fetch(ctx)
	if err != nil {
		r.cfg.Logger.Warn("pass keys not fetched; the known ones stay", "url", r.cfg.URL, "error", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lastErr = err; err == nil {
		r.keys, r.staleAt = keys, now.Add(min(max(fresh, r.cfg.MinFresh), r.cfg.MaxFresh))
	}
	r.flight = nil
	close(done)
}

func (r *RemoteKeys) fetch(ctx context.Context) (StaticKeys, time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.cfg.URL, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("pass: fetch keys: %w", err)
	}
	resp, err := r.cfg.Client.Do(req)
	if err != nil {
		return nil, 0, fmt.Errorf("pass: fetch keys: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, 0, fmt.Errorf("pass: fetch keys: status %d", resp.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxKeySet+1))
	if err != nil {
		return nil, 0, fmt.Errorf("pass: fetch keys: %w", err)
	}
	if len(data) > maxKeySet {
		return nil, 0, fmt.Errorf("%w: more than %d bytes", ErrJWKS, maxKeySet)
	}
	keys, err := ParseJWKS(data)
	return keys, freshFor(resp.Header), err
}

// freshFor is how long an answer may be kept by RFC 9111: max-age less the Age that it
// had in a cache on the way.
func freshFor(h http.Header) time.Duration {
	fresh := defaultFresh
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch strings.ToLower(name) {
		case "no-store", "no-cache":
			return 0
		case "max-age":
			fresh = seconds(strings.Trim(value, `"`))
		}
	}
	return fresh - seconds(h.Get("Age"))
}

// seconds reads a count of seconds, at most a year; what is no count is 0.
func seconds(s string) time.Duration {
	n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0
	}
	return time.Duration(min(n, 365*24*3600)) * time.Second
}

// siteURL parses an absolute http or https URL.
func siteURL(field, raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
		return nil, fmt.Errorf("pass: %s %q: want an absolute http or https URL", field, raw)
	}
	return u, nil
}
