package dispatch

import (
	"context"
	"time"
)

const (
	// ahead is how long before it is used a slot is taken: long enough for the Ledger's
	// answers, short enough that a job of the high lane which comes meanwhile waits little.
	ahead = 25 * time.Millisecond
	// longestNap bounds every wait for the pace, so that a rate that was raised counts soon.
	longestNap = time.Second
	// ledgerTimeout is how long one step of the Ledger may take.
	ledgerTimeout = 2 * time.Second
	// awayNap is how long to wait before the Ledger or bucket is asked again after a failure.
	awayNap = 250 * time.Millisecond
)

// slot is a place in the pace that was taken, by the clock of this process.
type slot struct {
	cost int64
	// at is when the attempt may begin: not before the true time by the Ledger's clock,
	// since it counts from the moment the answer came.
	at time.Time
	// known is at counted from the moment the question was sent: not after the true time.
	known time.Time
}

// late reports whether the slot is missed at now.
func (s slot) late(now time.Time, tolerance time.Duration) bool { return now.Sub(s.known) > tolerance }

// takeSlot waits for the pace and takes a slot. The error is ctx's: while the Ledger is away
// it goes on asking, and so nothing is sent.
func (d *Dispatcher) takeSlot(ctx context.Context, cost int64) (slot, error) {
	for {
		sent := d.now()
		got, err := step(ctx, func(ctx context.Context) (Slot, error) { return d.cfg.Ledger.Slot(ctx, cost, ahead) })
		d.heard("slot", err)
		wait := awayNap
		switch {
		case err != nil:
		case got.Taken:
			d.free.Store(d.now().Add(got.Wait + d.cfg.apart(cost-d.cfg.Burst+1)).UnixNano())
			d.metrics.slots.Add(float64(cost))
			return slot{cost: cost, at: d.now().Add(got.Wait), known: sent.Add(got.Wait)}, nil
		default: // ask a little early: the answer takes time as well
			wait = min(max(got.Wait-ahead/2, time.Millisecond), longestNap)
		}
		if err := nap(ctx, nil, wait); err != nil {
			return slot{}, err
		}
	}
}

// awaitPace waits until the pace may have a slot soon, as far as this dispatcher knows. It is
// asked before a job is chosen, so that the choice is made late. The error is ctx's.
func (d *Dispatcher) awaitPace(ctx context.Context) error {
	for {
		left := time.Unix(0, d.free.Load()).Sub(d.now()) - ahead
		if left <= 0 {
			return ctx.Err()
		}
		if err := nap(ctx, nil, min(left, longestNap)); err != nil {
			return err
		}
	}
}

// awaitSlot waits for the slot's time; if that is missed, it takes another. It gives up, with
// false, when ctx ends or patience has passed.
func (d *Dispatcher) awaitSlot(ctx context.Context, s slot, patience time.Time) bool {
	for {
		if wait := s.at.Sub(d.now()); wait > 0 {
			if nap(ctx, nil, wait) != nil {
				return false
			}
		}
		now := d.now()
		switch {
		case ctx.Err() != nil || now.After(patience):
			return false
		case !s.late(now, d.cfg.tolerance()):
			return true
		}
		d.metrics.missed.Add(float64(s.cost))
		var err error
		if s, err = d.takeSlot(ctx, s.cost); err != nil {
			return false
		}
	}
}

// step makes one step of the Ledger within its time.
func step[T any](ctx context.Context, do func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, ledgerTimeout)
	defer cancel()
	return do(ctx)
}
