package queue

import (
	"context"
	"time"
)

// Status is a room at one moment of Redis TIME.
type Status struct {
	Now             time.Time
	Generation      int64
	Waiting, Active int64
	// Oldest is when the head of the line joined; zero when nobody waits.
	Oldest time.Time
	// Held is for how long admission waits for a forgotten line to re-form.
	Held time.Duration
	// PerAdmission is the measured time between two admissions while people waited,
	// 0 when this process has not seen enough.
	PerAdmission time.Duration
	Counters     Counters
}

// Counters count events since the room's memory was made.
type Counters struct {
	Joined, Admitted, Claimed, NoShows, Expired, Left, Aside, Dropped, Retaken int64
}

// Status reads a room and, as a sample, improves this process's estimate of its flow.
func (l *Line) Status(ctx context.Context, room Room) (Status, error) {
	v, err := l.call(ctx, "status", statusScript, room)
	if err != nil {
		return Status{}, err
	}
	s := Status{
		Now: time.UnixMicro(v[0]), Generation: v[1], Waiting: v[2], Active: v[3], Held: fromMS(v[5]),
		Counters: Counters{v[6], v[7], v[8], v[9], v[10], v[11], v[12], v[13], v[14]},
	}
	if v[4] > 0 {
		s.Oldest = time.UnixMicro(v[4])
	}
	s.PerAdmission = l.mem.of(room.Name).sampled(s, room.Rules)
	return s, nil
}
