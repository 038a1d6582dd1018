package gate

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/anteroom/anteroom/internal/rooms"
)

const (
	// askTimeout bounds the touch of a pass that is not known here, so that a gate whose
	// store hangs answers within 50 ms. A touch waits for one call before its own.
	askTimeout = 20 * time.Millisecond
	// backgroundTimeout bounds the touches and probes that nobody waits for.
	backgroundTimeout = 400 * time.Millisecond
)

// patience is for how long nothing was answered before the store counts as away: one slow
// answer is no outage. The background asks twice in that time.
const patience = time.Second

// breaker remembers that the store is away, so that nobody waits to find out again. A probe
// in the background closes it.
type breaker struct {
	open atomic.Bool
	last atomic.Int64 // when the store last answered, Unix ms
}

// failed opens the breaker when nothing was answered for a while.
func (g *Gate) failed(err error) {
	if g.now().UnixMilli()-g.breaker.last.Load() < patience.Milliseconds() {
		return
	}
	if !g.breaker.open.Swap(true) {
		g.log.Warn("the gate's store is away: valid passes enter, others by on_store_error", "error", err)
		g.metrics.away.Set(1)
	}
}

// answered closes the breaker.
func (g *Gate) answered() {
	g.breaker.last.Store(g.now().UnixMilli())
	if g.breaker.open.Swap(false) {
		g.log.Info("the gate's store is back")
		g.metrics.away.Set(0)
	}
}

// Run touches and probes in the background until ctx ends.
func (g *Gate) Run(ctx context.Context) error {
	tick := time.NewTicker(touchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			g.round(ctx)
		}
	}
}

// round closes an open breaker only by a probe that nobody waits for; passes shown in the
// meantime stay noted as shown when they are next.
func (g *Gate) round(ctx context.Context) {
	if g.probe(ctx) && g.touchShown(ctx) {
		g.answered()
	}
}

// probe asks the store for nothing.
func (g *Gate) probe(ctx context.Context) bool {
	all := g.rooms.All()
	if len(all) == 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, backgroundTimeout)
	defer cancel()
	if _, err := g.line.Touch(ctx, all[0].Queue(), nil); err != nil {
		if ctx.Err() == nil || context.Cause(ctx) == context.DeadlineExceeded { //nolint:errorlint // the cause is the sentinel itself
			g.failed(err)
		}
		return false
	}
	return true
}

// caps are the local limits of how many are let through a second while the store is away.
type caps struct{ byRoom sync.Map }

// allow keeps to the room's own rate: what the site was said to carry.
func (c *caps) allow(room rooms.Room, now time.Time) bool {
	every := rate.Every(room.Rate.Interval())
	v, ok := c.byRoom.Load(room.Name)
	if !ok {
		v, _ = c.byRoom.LoadOrStore(room.Name, rate.NewLimiter(every, room.Burst))
	}
	l := v.(*rate.Limiter)
	if l.Limit() != every {
		l.SetLimitAt(now, every)
	}
	return l.AllowN(now, 1)
}
