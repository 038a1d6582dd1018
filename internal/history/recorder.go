package history

import (
	"context"
	"log/slog"
	"time"

	"github.com/anteroom/anteroom/admission"
	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/queue"
)

const (
	lookEvery   = time.Second
	lookTimeout = 500 * time.Millisecond
)

// Line is what a recorder asks of the line.
type Line interface {
	Status(ctx context.Context, room queue.Room) (queue.Status, error)
	Measure(ctx context.Context, room queue.Room) (queue.Measurement, error)
}

// Look takes a point of a room now. Its time is Redis TIME.
func Look(ctx context.Context, line Line, room rooms.Room) (Point, error) {
	q := room.Queue()
	began := time.Now()
	s, err := line.Status(ctx, q)
	if err != nil {
		return Point{}, err
	}
	latency := time.Since(began)
	m, err := line.Measure(ctx, q)
	if err != nil {
		return Point{}, err
	}
	p := Point{
		At: s.Now, State: string(room.StateAt(time.Now())), Waiting: s.Waiting, Active: s.Active, Capacity: int64(room.Capacity),
		Interval: q.Rules.Interval, Latency: latency, Held: s.Held > 0, Counters: s.Counters, Waits: m.Waits,
	}
	p.Silent, p.SilentErr = m.Silent(s.Waiting)
	if !s.Oldest.IsZero() {
		p.Oldest = max(0, s.Now.Sub(s.Oldest))
	}
	limits := admission.Limits{Capacity: room.Capacity, Interval: q.Rules.Interval, Burst: room.Burst}
	if s.Waiting > 0 {
		p.Promised = admission.Estimate(s.Waiting, limits, room.Session, s.PerAdmission)
	}
	return p, nil
}

// Recorder writes the history of all rooms. Any number may run at once.
type Recorder struct {
	store *Store
	line  Line
	rooms func() []rooms.Room
	log   *slog.Logger
	next  map[string]time.Time // by room: when the next point is due
}

// NewRecorder records what rooms returns; Run does the work.
func NewRecorder(store *Store, line Line, all func() []rooms.Room, log *slog.Logger) *Recorder {
	return &Recorder{store: store, line: line, rooms: all, log: log, next: map[string]time.Time{}}
}

// Run looks at every room once a step of the finest span until ctx ends. A time in which
// Redis was away has no points.
func (r *Recorder) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		for _, room := range r.rooms() {
			if time.Now().Before(r.next[room.Name]) {
				continue
			}
			if err := r.record(ctx, room); err != nil && ctx.Err() == nil {
				r.log.Debug("no history now", "room", room.Name, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (r *Recorder) record(ctx context.Context, room rooms.Room) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	p, err := Look(ctx, r.line, room)
	if err != nil {
		return err
	}
	step := QuarterHour.Step
	r.next[room.Name] = time.Now().Add(step - p.At.Sub(p.At.Truncate(step)))
	return r.store.Add(ctx, room.Name, p)
}
