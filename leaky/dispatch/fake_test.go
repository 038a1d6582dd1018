package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/anteroom/anteroom/internal/jobreceiver"
	"github.com/anteroom/anteroom/leaky"
	"github.com/anteroom/anteroom/leaky/bucket"
	"github.com/anteroom/anteroom/leaky/bucket/membucket"
	"github.com/anteroom/anteroom/leaky/deliver"
	"github.com/anteroom/anteroom/leaky/dispatch"
	"github.com/anteroom/anteroom/leaky/job"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errAway = errors.New("the ledger is away")

// memLedger is a ledger in memory.
type memLedger struct {
	rate float64

	mu       sync.Mutex
	away     bool
	free     time.Time // when the next place in the pace is
	jobs     map[string]*entry
	paused   time.Time
	disabled string
	held     bool
	pauses   int
}

// entry is what the ledger knows of one job.
type entry struct {
	lease     time.Time
	holder    string
	attempts  int
	in        time.Duration
	reason    string
	state     dispatch.State
	cancelled bool
}

func newLedger(rate float64) *memLedger { return &memLedger{rate: rate, jobs: map[string]*entry{}} }

// do is one step.
func (l *memLedger) do(ctx context.Context, step func(now time.Time)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away {
		return errAway
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	step(time.Now())
	return nil
}

func (l *memLedger) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

func (l *memLedger) of(id string) *entry {
	if l.jobs[id] == nil {
		l.jobs[id] = &entry{}
	}
	return l.jobs[id]
}

// look gives what is known of a job.
func (l *memLedger) look(id string) entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return *l.of(id)
}

func (l *memLedger) Slot(ctx context.Context, cost int64, ahead time.Duration) (s dispatch.Slot, err error) {
	err = l.do(ctx, func(now time.Time) {
		if l.free.Before(now) {
			l.free = now
		}
		s.Wait = l.free.Sub(now)
		if s.Taken = s.Wait <= ahead; s.Taken {
			l.free = l.free.Add(time.Duration(float64(cost) / l.rate * float64(time.Second)))
		}
	})
	return s, err
}

func (l *memLedger) Begin(ctx context.Context, id, holder string, lease time.Duration) (s dispatch.Start, err error) {
	err = l.do(ctx, func(now time.Time) {
		e := l.of(id)
		switch {
		case e.state != "":
			s.State = dispatch.WasDone
		case e.cancelled:
			s.State = dispatch.Cancelled
		case e.lease.After(now) && e.holder != holder:
			s = dispatch.Start{State: dispatch.Busy, Until: e.lease.Sub(now)}
		default:
			e.lease, e.holder = now.Add(lease), holder
		}
	})
	return s, err
}

func (l *memLedger) Retry(ctx context.Context, id string, attempts int, in time.Duration, reason string) error {
	return l.do(ctx, func(time.Time) {
		e := l.of(id)
		e.lease, e.attempts, e.in, e.reason = time.Time{}, attempts, in, reason
	})
}

func (l *memLedger) Finish(ctx context.Context, id string, state dispatch.State, attempts int, reason string) error {
	return l.do(ctx, func(time.Time) {
		e := l.of(id)
		e.state, e.attempts, e.reason = state, attempts, reason
	})
}

func (l *memLedger) Pause(ctx context.Context, d time.Duration, _ string) error {
	return l.do(ctx, func(now time.Time) {
		l.pauses++
		if until := now.Add(d); until.After(l.paused) {
			l.paused = until
		}
	})
}

func (l *memLedger) Disable(ctx context.Context, reason string) error {
	return l.do(ctx, func(time.Time) { l.disabled = reason })
}

func (l *memLedger) Gate(ctx context.Context) (g dispatch.Gate, err error) {
	err = l.do(ctx, func(now time.Time) {
		g = dispatch.Gate{Held: l.held, Disabled: l.disabled != "", Reason: l.disabled, Paused: max(l.paused.Sub(now), 0)}
	})
	return g, err
}

func (l *memLedger) Revive(ctx context.Context, id string, _ time.Duration) (revived bool, err error) {
	err = l.do(ctx, func(time.Time) {
		if e := l.of(id); e.state == dispatch.StateDead {
			*e, revived = entry{}, true
		}
	})
	return revived, err
}

func (l *memLedger) Confirm(ctx context.Context, _ string) error {
	return l.do(ctx, func(time.Time) {})
}

// target is a destination in memory: a Deliverer that notes what arrives and asks answer.
type target struct {
	answer func(ctx context.Context, d deliver.Delivery) deliver.Result

	mu       sync.Mutex
	arrivals []jobreceiver.Arrival
}

func (t *target) Deliver(ctx context.Context, d deliver.Delivery) deliver.Result {
	t.mu.Lock()
	t.arrivals = append(t.arrivals, jobreceiver.Arrival{ID: d.ID, Attempt: d.Attempt, At: time.Now(), Body: string(d.Body)})
	t.mu.Unlock()
	if t.answer == nil {
		return ok
	}
	return t.answer(ctx, d)
}

// seen is what arrived.
func (t *target) seen() []jobreceiver.Arrival {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]jobreceiver.Arrival(nil), t.arrivals...)
}

// ids are the jobs that arrived, in order.
func (t *target) ids() (all []string) {
	for _, a := range t.seen() {
		all = append(all, a.ID)
	}
	return all
}

var (
	ok     = deliver.Result{Outcome: deliver.Delivered, Status: 200}
	failed = deliver.Result{Outcome: deliver.Retry, Cause: deliver.CauseStatus, Status: 500, Reason: "answered 500"}
)

func paused(d time.Duration) deliver.Result {
	return deliver.Result{Outcome: deliver.Pause, Cause: deliver.CauseStatus, Status: 429, Reason: "answered 429", RetryAfter: d}
}

// hang answers when ctx ends or d has passed, as a deliverer with that timeout does.
func hang(ctx context.Context, d time.Duration) deliver.Result {
	select {
	case <-ctx.Done():
		return deliver.Result{Outcome: deliver.Cancelled, Reason: "stopped by us"}
	case <-time.After(d):
		return deliver.Result{Outcome: deliver.Retry, Cause: deliver.CauseTimeout, Reason: "no answer"}
	}
}

// world is one queue with its bucket, ledger and destination.
type world struct {
	t      testing.TB
	bucket *membucket.Bucket
	ledger *memLedger
	target *target
	cfg    dispatch.Config
}

func newWorld(t testing.TB, rate float64) *world {
	w := &world{t: t, bucket: membucket.New(3), ledger: newLedger(rate), target: &target{}}
	w.cfg = dispatch.Config{
		Queue: "q", URL: "http://x", Rate: rate, Timeout: 30 * time.Second,
		Retry:   leaky.Policy{MaxAttempts: 3, Min: time.Second, Max: 10 * time.Second},
		Breaker: leaky.BreakerConfig{Concurrency: 10}, Bucket: w.bucket, Ledger: w.ledger, Deliver: w.target,
	}
	return w
}

// put puts jobs named prefix and a number into a line.
func (w *world) put(line bucket.Line, prefix string, n int, change func(*job.Job)) {
	w.t.Helper()
	for i := range n {
		j := &job.Job{ID: fmt.Sprint(prefix, i), Queue: "q", Tenant: "t", Lane: line, Cost: 1, Accepted: time.Now().UTC(), Body: []byte("body")}
		if change != nil {
			change(j)
		}
		value, err := j.Encode()
		if err != nil {
			w.t.Fatal(err)
		}
		if err := w.bucket.Put(context.Background(), line, bucket.Record{ID: j.ID, Key: j.Key, Value: value}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// run runs a dispatcher until stop is called.
func (w *world) run() (d *dispatch.Dispatcher, stop func()) {
	w.t.Helper()
	d, err := dispatch.New(w.cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	return d, sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("Run returned %v", err)
		}
	})
}

// left is what the bucket holds of each line.
func (w *world) left(line bucket.Line) int64 {
	w.t.Helper()
	all, err := w.bucket.Backlog(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return all[line].Records
}

// dead are the dead letters, decoded.
func (w *world) dead() (all []*job.Job) {
	w.t.Helper()
	_, err := w.bucket.Scan(context.Background(), "", func(_ string, r bucket.Record, _ time.Time) bool {
		j, err := job.Decode(r.Value)
		if err != nil {
			w.t.Errorf("a dead letter that nobody can read: %v", err)
			return true
		}
		all = append(all, j)
		return true
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}
