package queue

import (
	"context"
	"slices"
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
	rooms   sync.Map  // name → *batcher; bounded by the rooms file
	free    sync.Pool // of *asking, because each request needs one
}

// groupFlights is how many calls of one room may be in flight: while Redis works on one,
// this process writes and reads the other.
const groupFlights = 2

// NewGroup groups polls on line; each call has timeout to be answered.
func NewGroup(line PollStep, timeout time.Duration) *Group {
	return &Group{line: line, timeout: timeout, free: sync.Pool{
		New: func() any { return &asking{done: make(chan struct{}, 1)} },
	}}
}

type batcher struct {
	mu      sync.Mutex
	pending []*asking
	flights int
}

type asking struct {
	ticket   Ticket
	since    time.Time
	standing Standing
	err      error
	done     chan struct{} // takes one value when standing and err are set
}

// Poll is Line.Poll for one ticket. It takes at most twice the timeout: one for calls
// that went before, one for its own. When ctx ends first, its error is returned and the
// poll may still be carried out.
func (g *Group) Poll(ctx context.Context, room Room, t Ticket) (Standing, error) {
	v, ok := g.rooms.Load(room.Name)
	if !ok {
		v, _ = g.rooms.LoadOrStore(room.Name, &batcher{})
	}
	b := v.(*batcher)
	a := g.free.Get().(*asking)
	a.ticket, a.since = t, time.Now()
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
		standing, err := a.standing, a.err
		g.free.Put(a)
		return standing, err
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

// send asks for a batch. Whoever has waited for longer than a call may take, behind a
// Redis that hangs, is answered without one.
func (g *Group) send(batch []*asking, room Room) {
	ctx, cancel := context.WithTimeout(context.Background(), g.timeout)
	defer cancel()
	now := time.Now()
	batch = slices.DeleteFunc(batch, func(a *asking) bool {
		late := now.Sub(a.since) > g.timeout
		if late {
			a.answer(Standing{}, context.DeadlineExceeded)
		}
		return late
	})
	if len(batch) == 0 {
		return
	}
	tickets := make([]Ticket, len(batch))
	for i, a := range batch {
		tickets[i] = a.ticket
	}
	standings, err := g.line.Poll(ctx, room, tickets)
	for i, a := range batch {
		if err != nil {
			a.answer(Standing{}, err)
		} else {
			a.answer(standings[i], nil)
		}
	}
}

// answer is the last that a sender does with a: its owner may use it again at once.
func (a *asking) answer(s Standing, err error) {
	a.standing, a.err = s, err
	a.done <- struct{}{}
}
