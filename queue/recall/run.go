package recall

import (
	"context"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/queue"
)

const (
	beatTimeout = time.Second
	sweepEvery  = 10 * time.Second
)

// Run writes heartbeats behind and drops what is old until ctx ends; then it writes what is
// left.
func (c *Recall) Run(ctx context.Context) error {
	flush, sweep := time.NewTicker(FlushEvery), time.NewTicker(sweepEvery)
	defer flush.Stop()
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			c.Flush(context.WithoutCancel(ctx))
			return nil
		case <-flush.C:
			c.Flush(ctx)
		case <-sweep.C:
			c.sweep()
		}
	}
}

// Flush writes the heartbeats of all rooms, the rooms side by side.
func (c *Recall) Flush(ctx context.Context) {
	var wg sync.WaitGroup
	for _, v := range c.rooms.Range {
		wg.Go(func() { c.flush(ctx, v.(*room)) })
	}
	wg.Wait()
}

// flush writes a room's heartbeats. What fails is not tried again: soon no word of the line
// is fresh, and every poll asks the line itself.
func (c *Recall) flush(ctx context.Context, r *room) {
	at := queue.Room{Name: r.name, Rules: *r.rules.Load()}
	for beats := range slices.Chunk(r.pending(), queue.MaxPolls) {
		call, cancel := context.WithTimeout(ctx, beatTimeout)
		began := c.now()
		seen, err := c.line.Beats(call, at, beats)
		cancel()
		if err != nil {
			c.m.lost.Add(float64(len(beats)))
			c.log.Debug("heartbeats not written", "room", r.name, "error", err)
			return
		}
		r.hear(seen, began)
	}
}

func (c *Recall) sweep() {
	left := 0
	for _, v := range c.rooms.Range {
		left += v.(*room).sweep(c.now())
	}
	c.m.tickets.Set(float64(left))
}

// Listen hears what the line does until ctx ends. What is not heard, while Redis is away, is
// asked about exactly.
func (c *Recall) Listen(ctx context.Context, rdb redis.UniversalClient, names func() []string) error {
	var sub *redis.PubSub
	for channels := []string(nil); ; {
		now := channelsOf(names())
		if !slices.Equal(now, channels) { // the rooms file changed
			if sub != nil {
				_ = sub.Close()
			}
			channels, sub = now, rdb.Subscribe(ctx, now...)
		}
		if !c.hearMoves(ctx, sub.Channel()) {
			_ = sub.Close()
			return nil
		}
	}
}

func channelsOf(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = queue.MovesChannel(n)
	}
	slices.Sort(out)
	return out
}

// hearMoves takes messages for about a minute; false when ctx ended.
func (c *Recall) hearMoves(ctx context.Context, messages <-chan *redis.Message) bool {
	again := time.NewTimer(time.Minute)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-again.C:
			return true
		case m, open := <-messages:
			if !open {
				return ctx.Err() == nil
			}
			c.moved(m.Channel, m.Payload)
		}
	}
}

// moved takes one message. One that cannot be read is dropped: a gap is noticed by the next.
func (c *Recall) moved(channel, payload string) {
	name := strings.TrimSuffix(strings.TrimPrefix(channel, "anteroom:{"), "}:moves")
	v, ok := c.rooms.Load(name)
	if !ok {
		return
	}
	m, err := queue.ParseMoves(payload)
	if err != nil {
		c.log.Debug("a message of the line was not read", "room", name, "error", err)
		return
	}
	r := v.(*room)
	for _, id := range m.Turns {
		r.forget(id, maphash.String(c.seed, string(id)))
	}
	r.told(m, c.now())
}
