package dispatch

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/anteroom/anteroom/leaky"
	"github.com/anteroom/anteroom/leaky/bucket"
)

// busyNap is how often a job is asked for that another dispatcher works on.
const busyNap = time.Second

// loop chooses jobs and starts their attempts until ctx ends. It alone takes slots, so at
// most one is taken for nothing when the process ends.
func (d *Dispatcher) loop(ctx, attempts context.Context) {
	for ctx.Err() == nil {
		if d.window.await(ctx) != nil || d.awaitOpen(ctx) != nil {
			return
		}
		permit, err := d.breaker.Wait(ctx)
		if err != nil {
			return
		}
		h, s := d.choose(ctx)
		if h == nil {
			d.breaker.Report(permit, leaky.Neutral, 0, "")
			continue
		}
		d.working.Go(func() { d.attempt(attempts, h, permit, s) })
	}
}

// choose gives the next job that may be worked on, begun, and its slot. nil means: start anew.
func (d *Dispatcher) choose(ctx context.Context) (*held, slot) {
	if d.awaitPace(ctx) != nil {
		return nil, slot{}
	}
	h := d.window.take()
	if h == nil {
		return nil, slot{}
	}
	s, err := d.takeSlot(ctx, h.job.Cost)
	if err != nil {
		d.window.rest(h, time.Time{})
		return nil, slot{}
	}
	if !d.gateOpen(ctx) {
		d.window.rest(h, time.Time{})
		return nil, slot{}
	}
	// A job that is not to be sent leaves its slot to the next: after a crash there may be
	// hundreds that were done.
	for ; h != nil; h = d.window.take() {
		if h.job.Cost > s.cost { // what is dearer than its slot pays the rest; the next slot moves away
			rest := h.job.Cost - s.cost
			_, err := step(ctx, func(ctx context.Context) (Slot, error) { return d.cfg.Ledger.Slot(ctx, rest, time.Duration(1<<62)) })
			if d.heard("slot", err); err != nil {
				d.window.rest(h, d.now().Add(awayNap))
				return nil, slot{}
			}
			s.cost += rest
		}
		if d.begin(ctx, h) {
			return h, s
		}
	}
	return nil, slot{}
}

// begin asks whether h may be worked on. If not, h is out of hand, or rests.
func (d *Dispatcher) begin(ctx context.Context, h *held) bool {
	if h.item.IsLost() {
		d.window.release(h)
		return false
	}
	if d.cfg.Retry.Expired(h.job.FirstTry, d.now()) {
		d.settling(func(ctx context.Context) { d.bury(ctx, h, string(leaky.GaveDeadline)) })
		return false
	}
	h.began = d.now()
	start, err := step(ctx, func(ctx context.Context) (Start, error) {
		return d.cfg.Ledger.Begin(ctx, h.job.ID, h.name, d.cfg.Timeout+d.cfg.LeaseMargin)
	})
	d.heard("begin", err)
	switch {
	case err != nil:
		d.window.rest(h, d.now().Add(awayNap))
	case start.State == Run:
		return true
	case start.State == Busy:
		d.window.rest(h, d.now().Add(min(max(start.Until, time.Millisecond), busyNap)))
	case start.State == Cancelled:
		d.settling(func(ctx context.Context) { d.finish(ctx, h, StateCancelled, "cancelled by its sender") })
	default:
		d.metrics.duplicates.Inc()
		d.done(h)
	}
	return false
}

// done tells the bucket that h is finished with, and lets go of it.
func (d *Dispatcher) done(h *held) {
	h.reader.Done(h.item)
	d.window.release(h)
}

// read takes the records of one line into the window until ctx ends.
func (d *Dispatcher) read(ctx, settle context.Context, line bucket.Line, from bucket.Reader) {
	for d.window.awaitRoom(ctx, line) == nil {
		item, err := from.Next(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			d.log.Error("cannot read", "line", line, "error", err)
			if nap(ctx, nil, awayNap) != nil {
				return
			}
			continue
		}
		d.progress.Store(d.now().UnixNano())
		j, err := d.open(item)
		if err != nil {
			d.discard(settle, from, item, err)
			continue
		}
		d.window.add(&held{item: item, reader: from, job: j, name: rand.Text()})
	}
}
