package leaky

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/anteroom/anteroom/leaky/deliver"
)

// Breaker is the breaker of one destination. It holds the destination's concurrency too, so
// that one which hangs uses up its own places and nobody else's. It is safe for concurrent
// use, has no goroutine and is not closed. What it knows is this process's: share pauses by
// Status and PauseUntil.
type Breaker struct {
	cfg BreakerConfig

	mu      sync.Mutex // never held while waiting
	breaker breaker
	changed chan struct{} // closed when an attempt may get through that did not before
}

// NewBreaker is a closed breaker.
func NewBreaker(cfg BreakerConfig) *Breaker {
	return &Breaker{cfg: cfg.withDefaults(), breaker: breaker{state: Closed}, changed: make(chan struct{})}
}

// Permit lets one attempt through. Give it back by Report, whatever comes.
type Permit struct {
	epoch    uint64
	reported bool // guarded by the breaker's mutex
}

// Acquire lets an attempt through, or gives nil and until when none gets through; the zero
// time is until an attempt ends or an operator acts. It does not block. Ask it before the
// pace: a place in the pace that is not used is lost.
func (b *Breaker) Acquire() (permit *Permit, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	next, ok, until := b.breaker.acquire(b.cfg, b.cfg.Now())
	b.breaker = next
	if !ok {
		return nil, until
	}
	return &Permit{epoch: next.epoch}, time.Time{}
}

// Wait blocks until an attempt gets through or ctx ends; the error is then ctx's cause.
// Who waits is let through in no particular order.
func (b *Breaker) Wait(ctx context.Context) (*Permit, error) {
	for {
		b.mu.Lock()
		changed := b.changed
		b.mu.Unlock()
		// A change from here on is seen by the channel.
		permit, until := b.Acquire()
		if permit != nil {
			return permit, nil
		}
		if err := sleep(ctx, changed, until.Sub(b.cfg.Now()), !until.IsZero()); err != nil {
			return nil, err
		}
	}
}

// sleep blocks until changed is closed, ctx ends or, if timed, d has passed.
func sleep(ctx context.Context, changed <-chan struct{}, d time.Duration, timed bool) error {
	var passed <-chan time.Time
	if timed {
		timer := time.NewTimer(d)
		defer timer.Stop()
		passed = timer.C
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-changed:
	case <-passed:
	}
	return nil
}

// StillGood reports whether the destination was neither paused nor disabled since permit
// was given. Ask it again after waiting for the pace; if not, report Neutral and begin anew.
func (b *Breaker) StillGood(permit *Permit) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return permit.epoch == b.breaker.epoch
}

// Report gives permit back with what the attempt said of the destination. pause is for
// Throttled only. reason is what operators see while the breaker is open or disabled. A
// permit that is given back again changes nothing.
func (b *Breaker) Report(permit *Permit, v Verdict, pause time.Duration, reason string) {
	b.change(func(now time.Time) {
		if !permit.reported {
			permit.reported = true
			b.breaker = b.breaker.report(b.cfg, permit.epoch, v, pause, reason, now)
		}
	})
}

// ReportResult is Report with what the result of a delivery says.
func (b *Breaker) ReportResult(permit *Permit, r deliver.Result) {
	b.Report(permit, VerdictOf(r), r.RetryAfter, r.Reason)
}

// PauseUntil lets nothing through before until, as another dispatcher was told or an
// operator wishes. It never makes a pause shorter.
func (b *Breaker) PauseUntil(until time.Time, reason string) {
	b.change(func(now time.Time) {
		if until.After(now) {
			b.breaker = b.breaker.open(until, reason)
		}
	})
}

// Disable lets nothing through until Enable.
func (b *Breaker) Disable(reason string) {
	b.change(func(time.Time) { b.breaker = b.breaker.disable(reason) })
}

// Enable ends Disable and what a 410 did; the slow start follows. Otherwise it does nothing.
func (b *Breaker) Enable() {
	b.change(func(time.Time) { b.breaker = b.breaker.enable() })
}

// change makes a step and wakes who waits.
func (b *Breaker) change(step func(now time.Time)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	step(b.cfg.Now())
	close(b.changed)
	b.changed = make(chan struct{})
}

// BreakerStatus is what an operator sees, and what dispatchers share.
type BreakerStatus struct {
	State    BreakerState
	Until    time.Time // with Open
	Reason   string    // why it is not closed; may quote the receiver
	Limit    int       // attempts that may run at once now
	InFlight int       // attempts that run
}

// Status is the state now. A pause that has passed shows as half-open.
func (b *Breaker) Status() BreakerStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := BreakerStatus{State: b.breaker.state, Reason: b.breaker.reason, InFlight: b.breaker.inFlight}
	switch s.State {
	case Closed:
		s.Limit = b.cfg.Concurrency
	case HalfOpen:
		s.Limit = min(b.breaker.limit, b.cfg.Concurrency)
	case Open:
		if s.Until = b.breaker.until; !b.cfg.Now().Before(s.Until) {
			s.State, s.Until, s.Limit = HalfOpen, time.Time{}, 1
		}
	}
	return s
}

// VerdictOf is what the result of a delivery says of its destination. A destination that
// finds fault with a job's content is healthy, or one bad job would stop the good ones; one
// that answers 401 or 404, or with a redirect, fails every job alike, and is given time
// before they have used up their attempts.
func VerdictOf(r deliver.Result) Verdict {
	switch r.Outcome {
	case deliver.Delivered:
		return Healthy
	case deliver.Pause:
		return Throttled
	case deliver.Disabled:
		return Gone
	case deliver.Retry:
	default: // dead, cancelled
		return Neutral
	}
	switch r.Status {
	case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return Healthy
	}
	return Unhealthy
}
