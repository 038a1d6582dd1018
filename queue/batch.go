package queue

import (
	"context"
	"slices"
	"sync"
	"time"
)

// batches answers single questions by few calls: the questions about a room that arrive
// while calls are in flight go together in the next one. No timer holds a question back,
// so an idle server adds no latency, and a busy one sends ever fuller batches.
type batches[Q, A any] struct {
	call    func(ctx context.Context, room Room, questions []Q) ([]A, error)
	timeout time.Duration // of one call
	rooms   sync.Map      // name → *batcher[Q, A]; bounded by the rooms file
	free    sync.Pool     // of *asking[Q, A], because each request needs one
}

// flightsMost is how many calls of one room may be in flight: while Redis works on one,
// this process writes and reads the other.
const flightsMost = 2

func newBatches[Q, A any](timeout time.Duration, call func(context.Context, Room, []Q) ([]A, error)) *batches[Q, A] {
	return &batches[Q, A]{call: call, timeout: timeout, free: sync.Pool{
		New: func() any { return &asking[Q, A]{done: make(chan struct{}, 1)} },
	}}
}

type batcher[Q, A any] struct {
	mu      sync.Mutex
	pending []*asking[Q, A]
	flights int
}

type asking[Q, A any] struct {
	question Q
	since    time.Time
	answer   A
	err      error
	done     chan struct{} // takes one value when answer and err are set
}

// ask takes at most twice the timeout: one for calls that went before, one for its own.
// When ctx ends first, its error is returned and the question may still be asked.
func (b *batches[Q, A]) ask(ctx context.Context, room Room, question Q) (A, error) {
	v, ok := b.rooms.Load(room.Name)
	if !ok {
		v, _ = b.rooms.LoadOrStore(room.Name, &batcher[Q, A]{})
	}
	at := v.(*batcher[Q, A])
	a := b.free.Get().(*asking[Q, A])
	a.question, a.since = question, time.Now()
	at.mu.Lock()
	at.pending = append(at.pending, a)
	start := at.flights < flightsMost
	if start {
		at.flights++
	}
	at.mu.Unlock()
	if start {
		go b.fly(at, room)
	}
	select {
	case <-a.done:
		answer, err := a.answer, a.err
		b.free.Put(a)
		return answer, err
	case <-ctx.Done():
		var none A
		return none, context.Cause(ctx)
	}
}

// fly sends batches until nothing is pending.
func (b *batches[Q, A]) fly(at *batcher[Q, A], room Room) {
	for {
		at.mu.Lock()
		n := min(len(at.pending), MaxPolls)
		if n == 0 {
			at.flights--
			at.mu.Unlock()
			return
		}
		batch := at.pending[:n:n]
		if at.pending = at.pending[n:]; len(at.pending) == 0 {
			at.pending = nil
		}
		at.mu.Unlock()
		b.send(batch, room)
	}
}

// send asks for a batch. Whoever has waited for longer than a call may take, behind a
// Redis that hangs, is answered without one.
func (b *batches[Q, A]) send(batch []*asking[Q, A], room Room) {
	ctx, cancel := context.WithTimeout(context.Background(), b.timeout)
	defer cancel()
	var none A
	now := time.Now()
	batch = slices.DeleteFunc(batch, func(a *asking[Q, A]) bool {
		late := now.Sub(a.since) > b.timeout
		if late {
			a.tell(none, context.DeadlineExceeded)
		}
		return late
	})
	if len(batch) == 0 {
		return
	}
	questions := make([]Q, len(batch))
	for i, a := range batch {
		questions[i] = a.question
	}
	answers, err := b.call(ctx, room, questions)
	for i, a := range batch {
		if err != nil {
			a.tell(none, err)
		} else {
			a.tell(answers[i], nil)
		}
	}
}

// tell is the last that a sender does with a: its owner may use it again at once.
func (a *asking[Q, A]) tell(answer A, err error) {
	a.answer, a.err = answer, err
	a.done <- struct{}{}
}
