package admission

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anteroom/anteroom/queue"
)

const (
	// tickEvery is the longest pause between two ticks of a room.
	tickEvery = 100 * time.Millisecond
	// tickSoonest bounds how often a fast pace may wake the worker.
	tickSoonest = 5 * time.Millisecond
	// tickTimeout bounds one admit step.
	tickTimeout = 2 * time.Second
	// retryMost is the longest pause after failures.
	retryMost = 2 * time.Second
	// moreMost bounds how many steps follow one another without a pause, so that one
	// room with a million absent people leaves Redis to the others.
	moreMost = 50
)

// Admitter is the part of the line that the worker calls. Admit is one atomic step and
// may run in any number of processes at once.
type Admitter interface {
	Admit(ctx context.Context, room queue.Room) (queue.Tick, error)
}

// Worker ticks every room until its context ends. It holds no lock and no lease: the
// admit step itself decides, so workers may be started, paused and killed at will.
type Worker struct {
	line  Admitter
	rooms func() []queue.Room
	log   *slog.Logger
	m     metrics
	// current holds each room as of the last refresh, by name.
	current sync.Map
}

// NewWorker ticks the rooms that rooms returns; it is asked again at least once a second,
// so that a changed rooms file takes effect.
func NewWorker(line Admitter, rooms func() []queue.Room, log *slog.Logger, reg prometheus.Registerer) *Worker {
	return &Worker{line: line, rooms: rooms, log: log, m: newMetrics(reg)}
}

// Run returns nil when ctx ends, after the steps in flight have finished.
func (w *Worker) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	running := map[string]context.CancelFunc{}
	refresh := time.NewTicker(time.Second)
	defer refresh.Stop()
	for {
		now := map[string]bool{}
		for _, room := range w.rooms() {
			now[room.Name] = true
			w.current.Store(room.Name, room)
			if running[room.Name] == nil {
				roomCtx, cancel := context.WithCancel(ctx)
				running[room.Name] = cancel
				wg.Go(func() { w.tickRoom(roomCtx, room.Name) })
			}
		}
		for name, cancel := range running {
			if !now[name] {
				cancel()
				delete(running, name)
				w.current.Delete(name)
			}
		}
		select {
		case <-ctx.Done():
			for _, cancel := range running {
				cancel()
			}
			return nil
		case <-refresh.C:
		}
	}
}

// tickRoom ticks one room until ctx ends, slower while Redis fails.
func (w *Worker) tickRoom(ctx context.Context, name string) {
	failures := 0
	for {
		room, ok := w.current.Load(name)
		pause := tickEvery
		if ok {
			next, err := w.tick(ctx, room.(queue.Room))
			if ctx.Err() != nil {
				return
			}
			pause = next
			if err != nil {
				failures++
				pause = min(retryMost, tickEvery<<min(failures, 5))
				if failures == 1 {
					w.log.Warn("admission stands still", "room", name, "error", err)
				}
			} else if failures > 0 {
				w.log.Info("admission goes on", "room", name, "failed_ticks", failures)
				failures = 0
			}
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// tick admits until nothing is left to do now, and returns when to come again. A step
// that began is finished even when ctx ends, within its own deadline.
func (w *Worker) tick(ctx context.Context, room queue.Room) (time.Duration, error) {
	for range moreMost {
		started := time.Now()
		step, cancel := context.WithTimeout(context.WithoutCancel(ctx), tickTimeout)
		t, err := w.line.Admit(step, room)
		cancel()
		w.m.observe(room, t, err, time.Since(started))
		if err != nil {
			return 0, errors.Join(errors.New("admission: tick"), err)
		}
		if t.Held > 0 && t.Waiting > 0 {
			w.log.Debug("the line re-forms", "room", room.Name, "held", t.Held)
		}
		if !t.More {
			return nextTick(t), nil
		}
		if ctx.Err() != nil {
			return 0, nil //nolint:nilerr // the end of ctx is no failure of the tick
		}
	}
	return tickSoonest, nil
}

// nextTick comes when the pace allows the next admission, at the latest after tickEvery.
func nextTick(t queue.Tick) time.Duration {
	if t.NextIn > 0 && t.NextIn < tickEvery {
		return max(t.NextIn, tickSoonest)
	}
	return tickEvery
}
