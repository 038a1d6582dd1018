package dispatch

import (
	"context"
	"time"

	"github.com/anteroom/anteroom/leaky"
)

// gateEvery is how often a dispatcher that sends nothing asks whether it may.
const gateEvery = 250 * time.Millisecond

// follow is how much longer a dispatcher waits that was told of a pause by another. The one
// that got the 429 tries first, and the others learn from it: one call a pause, not one of each.
const follow = time.Second

// awaitOpen waits while an operator holds the queue. The error is ctx's.
func (d *Dispatcher) awaitOpen(ctx context.Context) error {
	for d.held.Load() {
		if err := nap(ctx, nil, gateEvery); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// gateOpen asks whether the queue may send, and tells the breaker what the others know. While
// the Ledger is away it says no.
func (d *Dispatcher) gateOpen(ctx context.Context) bool {
	before := d.disables.Load()
	busy := d.disabling.Load() > 0
	gate, err := step(ctx, d.cfg.Ledger.Gate)
	d.heard("gate", err)
	if err != nil {
		return false
	}
	d.held.Store(gate.Held)
	now := d.now()
	status := d.breaker.Status()
	switch {
	case gate.Disabled:
		if status.State != leaky.Disabled {
			d.breaker.Disable(gate.Reason)
		}
	case status.State == leaky.Disabled:
		// Enabled by an operator, unless what was read is older than a 410 that came here.
		if !busy && d.disabling.Load() == 0 && d.disables.Load() == before {
			d.breaker.Enable()
		}
	}
	// A pause that is known already is not told again: each begins the slow start anew.
	if until := now.Add(gate.Paused); gate.Paused > 0 && until.Sub(status.Until) > gateEvery/5 {
		d.breaker.PauseUntil(until.Add(follow), gate.Reason)
	}
	return !gate.Held && !gate.Disabled && gate.Paused <= 0
}

// watch keeps an eye on the gate, on jobs that were lost, and on what the bucket holds,
// until ctx ends.
func (d *Dispatcher) watch(ctx context.Context) {
	tick := time.NewTicker(gateEvery)
	defer tick.Stop()
	for n := 0; ; n++ {
		d.gateOpen(ctx)
		d.window.sweep()
		d.observeState()
		if n%int(backlogEvery/gateEvery) == 0 {
			d.look(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
