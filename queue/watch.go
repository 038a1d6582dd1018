package queue

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	watchEvery   = time.Second
	watchTimeout = 500 * time.Millisecond
)

// Watch keeps a recent Status of every room, and with it this process's estimate of each
// room's flow and its knowledge that the room exists.
type Watch struct {
	line  *Line
	rooms func() []Room
	log   *slog.Logger
	last  sync.Map // name → Status
}

// NewWatch watches what rooms returns; Run does the work.
func NewWatch(line *Line, rooms func() []Room, log *slog.Logger) *Watch {
	return &Watch{line: line, rooms: rooms, log: log}
}

// Last is the latest status of a room; false when there was none in this process.
func (w *Watch) Last(room string) (Status, bool) {
	v, ok := w.last.Load(room)
	if !ok {
		return Status{}, false
	}
	return v.(Status), true
}

// Run reads every room once a second until ctx ends.
func (w *Watch) Run(ctx context.Context) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		w.Look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Look reads every room once.
func (w *Watch) Look(ctx context.Context) {
	for _, room := range w.rooms() {
		call, cancel := context.WithTimeout(ctx, watchTimeout)
		s, err := w.line.Status(call, room)
		cancel()
		if err != nil {
			w.log.Debug("status unknown", "room", room.Name, "error", err)
			return // the others are in the same Redis: try again at the next tick
		}
		w.last.Store(room.Name, s)
	}
}
