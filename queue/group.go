package queue

import (
	"context"
	"sync"
	"time"
)

// PollStep is the step that Group sends many polls in.
type PollStep interface {
	Poll(ctx context.Context, room Room, tickets []Ticket) ([]Standing, error)
}

// Group answers single polls by few calls: the polls of a room that arrive while calls
// are in flight go together in the next one. No timer holds a poll back, so an idle
// server adds no latency, and a busy one sends ever fuller batches.
type Group struct {
	line    PollStep
	timeout time.Duration
	rooms   sync.Map // name → *batcher; bounded by the rooms file
}

// groupFlights is how many calls of one room may be in flight: while Redis works on one,
// this process writes and reads the other.
const groupFlights = 2

// NewGroup groups polls on line; each call has timeout to be answered.
func NewGroup(line PollStep, timeout time.Duration) *Group {
	return &Group{line: line, timeout: timeout}
}

type batcher struct {
	mu      sync.Mutex
	pending []*asking
	flights int
}

type asking struct {
	ticket   Ticket
	standing Standing
	err      error
	done     chan struct{}
}

// Poll is Line.Poll for one ticket. When ctx ends first, its error is returned and the
// poll may still be carried out.
func (g *Group) Poll(ctx context.Context, room Room, t Ticket) (Standing, error) {
	v, ok := g.rooms.Load(room.Name)
	if !ok {
		v, _ = g.rooms.LoadOrStore(room.Name, &batcher{})
	}
	b := v.(*batcher)
	a := &asking{ticket: t, done: make(chan struct{})}
	b.mu.Lock()
	b.pending = append(b.pending, a)
	start := b.flights < groupFlights
	if start {
		b.flights++
	}
	b.mu.Unlock()
	if start {
		go g.fly(b, room)
	}
	select {
	case <-a.done:
		return a.standing, a.err
	case <-ctx.Done():
		return Standing{}, context.Cause(ctx)
	}
}

// fly sends batches until nothing is pending.
func (g *Group) fly(b *batcher, room Room) {
	for {
		b.mu.Lock()
		n := min(len(b.pending), MaxPolls)
		if n == 0 {
			b.flights--
			b.mu.Unlock()
			return
		}
		batch := b.pending[:n:n]
		if b.pending = b.pending[n:]; len(b.pending) == 0 {
			b.pending = nil
		}
		b.mu.Unlock()
		g.send(batch, room)
	}
}

func (g *Group) send(batch []*asking, room Room) {
	ctx, cancel := context.WithTimeout(context.Background(), g.timeout)
	defer cancel()
	tickets := make([]Ticket, len(batch))
	for i, a := range batch {
		tickets[i] = a.ticket
	}
	standings, err := g.line.Poll(ctx, room, tickets)
	for i, a := range batch {
		if a.err = err; err == nil {
			a.standing = standings[i]
		}
		close(a.done)
	}
}
