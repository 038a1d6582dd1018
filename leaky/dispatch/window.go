package dispatch

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/anteroom/anteroom/leaky/bucket"
	"github.com/anteroom/anteroom/leaky/job"
	"github.com/anteroom/anteroom/leaky/schedule"
)

// held is a job in hand.
type held struct {
	item   *bucket.Item
	reader bucket.Reader
	job    *job.Job
	name   string    // of this job in hand, for the lease: a job that was lost and comes back is another
	began  time.Time // when Begin was asked; the lease counts from then
}

// orderKey is what jobs that are delivered one after the other have in common. A key orders
// within its lane: lanes are lines of their own in the bucket.
func (h *held) orderKey() string {
	if h.job.Key == "" {
		return ""
	}
	return string(h.job.Lane) + "/" + h.job.Key
}

// window is the jobs in hand: bounded, so that a destination which is away fills no memory.
// A job is ready, or waits behind another of its key, or until a time, or is under way.
type window struct {
	most      int // jobs a line
	mostBytes int // of a line's jobs

	mu      sync.Mutex // never held while waiting
	ready   *schedule.Lanes[*held]
	keys    map[string][]*held // jobs behind the one of their key that is on its turn; present without any, too
	resting []resting
	used    map[bucket.Line]*room
	changed chan struct{} // closed at every change
}

// resting is a job in hand that is not ready before a time.
type resting struct {
	*held
	until time.Time
}

type room struct{ jobs, bytes int }

func newWindow(c Config) (*window, error) {
	ready, err := schedule.New[*held](c.shares()...)
	if err != nil {
		return nil, err
	}
	w := &window{
		most: c.Window, mostBytes: max(MostHeld, c.Breaker.Concurrency*bucket.MostBytes), ready: ready,
		keys: map[string][]*held{}, used: map[bucket.Line]*room{}, changed: make(chan struct{}),
	}
	for _, line := range bucket.Lines() {
		w.used[line] = &room{}
	}
	return w, nil
}

// wake tells all who wait. The mutex is held.
func (w *window) wake() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// awaitRoom waits until another job of line may be added. The error is ctx's.
func (w *window) awaitRoom(ctx context.Context, line bucket.Line) error {
	for {
		w.mu.Lock()
		used, changed := *w.used[line], w.changed
		w.mu.Unlock()
		if used.jobs < w.most && used.bytes < w.mostBytes {
			return ctx.Err()
		}
		if err := nap(ctx, changed, 0); err != nil {
			return err
		}
	}
}

// add takes a job into hand. It need not wait for room: reserve that by awaitRoom.
func (w *window) add(h *held) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.used[h.item.Line].jobs++
	w.used[h.item.Line].bytes += len(h.item.Value)
	if key := h.orderKey(); key != "" {
		behind, busy := w.keys[key]
		if busy {
			w.keys[key] = append(behind, h)
			return
		}
		w.keys[key] = nil
	}
	w.ready.Push(string(h.job.Lane), h.job.Cost, h)
	w.wake()
}

// await waits until a job is ready. The error is ctx's.
func (w *window) await(ctx context.Context) error {
	for {
		w.mu.Lock()
		next := w.wakeResting(time.Now())
		w.dropLost()
		n, changed := w.ready.Len(), w.changed
		w.mu.Unlock()
		if n > 0 {
			return ctx.Err()
		}
		if err := nap(ctx, changed, next); err != nil {
			return err
		}
	}
}

// take gives the job that leaves next, nil when none is ready. It counts as under way until
// release or rest.
func (w *window) take() *held {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wakeResting(time.Now())
	w.dropLost()
	h, _, _ := w.ready.Pop()
	return h
}

// rest puts a job that is under way back in hand: it is ready again, and the first of its
// kind, when until has passed.
func (w *window) rest(h *held, until time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resting = append(w.resting, resting{h, until})
	w.wake()
}

// release lets go of a job that is under way. The next of its key gets its turn.
func (w *window) release(h *held) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forget(h)
	w.wake()
}

// forget is release with the mutex held.
func (w *window) forget(h *held) {
	w.used[h.item.Line].jobs--
	w.used[h.item.Line].bytes -= len(h.item.Value)
	key := h.orderKey()
	if key == "" {
		return
	}
	behind := w.keys[key]
	if len(behind) == 0 {
		delete(w.keys, key)
		return
	}
	w.keys[key] = behind[1:]
	w.ready.Push(string(behind[0].job.Lane), behind[0].job.Cost, behind[0])
}

// wakeResting makes ready what has rested, and says how long the next has to; 0 is none.
func (w *window) wakeResting(now time.Time) (next time.Duration) {
	w.resting = slices.DeleteFunc(w.resting, func(r resting) bool {
		left := r.until.Sub(now)
		if left <= 0 {
			w.ready.PushFront(string(r.job.Lane), r.job.Cost, r.held)
			return true
		}
		if next == 0 || left < next {
			next = left
		}
		return false
	})
	return next
}

// dropLost lets go of the ready jobs that belong to another reader now, up to the first
// that does not.
func (w *window) dropLost() {
	for {
		h, _, ok := w.ready.Peek()
		if !ok || !h.item.IsLost() {
			return
		}
		w.ready.Drop()
		w.forget(h)
	}
}

// sweep lets go of every job in hand that belongs to another reader now, also of those that
// rest or wait behind another.
func (w *window) sweep() {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lost []*held
	lose := func(h *held) bool {
		if h.item.IsLost() {
			lost = append(lost, h)
			return true
		}
		return false
	}
	w.resting = slices.DeleteFunc(w.resting, func(r resting) bool { return lose(r.held) })
	w.ready.Filter(func(h *held) bool { return !lose(h) })
	for _, h := range lost { // on their turn: the next of their key gets it
		w.forget(h)
	}
	for key, behind := range w.keys {
		w.keys[key] = slices.DeleteFunc(behind, func(h *held) bool {
			gone := h.item.IsLost()
			if gone {
				w.used[h.item.Line].jobs--
				w.used[h.item.Line].bytes -= len(h.item.Value)
			}
			return gone
		})
	}
	w.wake()
}

// inHand is how many jobs are in hand, those under way included.
func (w *window) inHand() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, used := range w.used {
		n += used.jobs
	}
	return n
}

// nap waits until changed is closed, d has passed unless it is 0, or ctx ends, which is the error.
func nap(ctx context.Context, changed <-chan struct{}, d time.Duration) error {
	var passed <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		passed = timer.C
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
	case <-passed:
	}
	return nil
}
