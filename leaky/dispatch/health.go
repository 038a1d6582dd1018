package dispatch

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/anteroom/anteroom/leaky/bucket"
)

// ErrNotReady is wrapped by every error of Ready.
var ErrNotReady = errors.New("dispatch: not ready")

const (
	backlogEvery = 5 * time.Second
	// silence is how long nothing may come of a line that has records, with room for them
	// in hand, until the dispatcher is no longer ready.
	silence = time.Minute
	// awayFor is how long Ledger or bucket may fail until it is no longer.
	awayFor = 5 * time.Second
)

// outage is since when the Ledger or the bucket fails.
type outage struct {
	name  string
	since atomic.Int64 // ns of Unix time, 0 while all is well
}

// heard notes whether a step of the Ledger was made.
func (d *Dispatcher) heard(step string, err error) { d.note(&d.ledgerAway, step, err) }

// note logs the first failure and the return, not each in between.
func (d *Dispatcher) note(of *outage, step string, err error) {
	switch {
	case err == nil:
		if since := of.since.Swap(0); since != 0 {
			d.log.Info("answers again", "what", of.name, "after", d.now().Sub(time.Unix(0, since)).Round(time.Millisecond))
		}
	case errors.Is(err, context.Canceled):
	default:
		d.metrics.failures.Inc()
		if of.since.CompareAndSwap(0, d.now().UnixNano()) {
			d.log.Error("is away: what needs it waits", "what", of.name, "step", step, "error", err)
		}
	}
}

// look asks what the bucket holds, for metrics and for the watchdog.
func (d *Dispatcher) look(ctx context.Context) {
	timed, cancel := context.WithTimeout(ctx, backlogEvery)
	defer cancel()
	backlog, err := d.cfg.Bucket.Backlog(timed)
	if ctx.Err() != nil {
		return
	}
	if d.note(&d.bucketAway, "backlog", err); err != nil {
		return
	}
	waiting := backlog[bucket.High].Records + backlog[bucket.Normal].Records
	d.observe(backlog, waiting)
	d.watchdog(backlog)
}

// watchdog notes since when a line has records that nobody hands out, though there is room
// for them and none is in hand. A reader that has died says so itself; this sees the others.
func (d *Dispatcher) watchdog(backlog map[bucket.Line]bucket.Backlog) {
	now := d.now().UnixNano()
	waiting := backlog[bucket.High].Records + backlog[bucket.Normal].Records
	if waiting == 0 || d.window.inHand() > 0 {
		d.progress.Store(now)
	}
}

// Ready says why jobs do not move though nobody wants that, or nil. A paused, held or
// disabled queue is ready.
func (d *Dispatcher) Ready() error {
	var found []error
	add := func(format string, args ...any) {
		found = append(found, fmt.Errorf("%w: queue %q: "+format, append([]any{ErrNotReady, d.cfg.Queue}, args...)...))
	}
	now := d.now()
	readers := d.readers.Load()
	if readers == nil {
		add("it does not run")
	} else {
		for _, r := range *readers {
			if since := r.Stalled(); !since.IsZero() {
				add("line %s has handed out nothing for %v", r.line, now.Sub(since).Round(time.Second))
			}
		}
	}
	for _, of := range []*outage{&d.ledgerAway, &d.bucketAway} {
		if since := of.since.Load(); since != 0 && now.Sub(time.Unix(0, since)) > awayFor {
			add("the %s has been away for %v", of.name, now.Sub(time.Unix(0, since)).Round(time.Second))
		}
	}
	if quiet := now.Sub(time.Unix(0, d.progress.Load())); readers != nil && quiet > silence {
		add("jobs wait, and for %v none was handed out", quiet.Round(time.Second))
	}
	return errors.Join(found...)
}

// InHand is how many jobs this dispatcher has read and not finished.
func (d *Dispatcher) InHand() int { return d.window.inHand() }
