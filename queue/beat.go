package queue

import (
	"context"
	"time"
)

// Mark is how far a line had moved at one moment.
type Mark struct {
	// Made is when the room's memory was made, µs of Redis TIME. With another Made nothing
	// of before counts any more.
	Made int64
	// Popped is how many tickets were taken from the head of the line since then.
	Popped int64
	// Shifts is how often since then somebody came back to a place in the line, or left it
	// other than at its head.
	Shifts int64
}

// Before tells whether less had happened at m than at other, with the same memory.
func (m Mark) Before(other Mark) bool { return m.Popped+m.Shifts < other.Popped+other.Shifts }

// Beat says that a visitor was answered.
type Beat struct {
	ID ID
	// PollAfter is when the visitor was told to ask again.
	PollAfter time.Duration
}

// Seen is what a line says of itself in answer to beats.
type Seen struct {
	Mark       Mark
	Held       time.Duration // for how long the line is still re-forming
	Generation int64
}

// Beats renews the alive keys of up to MaxPolls visitors who were told where they stand
// without asking the line. Tickets that the line forgot stay forgotten until they Poll.
func (l *Line) Beats(ctx context.Context, room Room, beats []Beat) (Seen, error) {
	args := make([]any, 0, 2*len(beats))
	for _, b := range beats {
		args = append(args, string(b.ID), ms(max(room.Rules.Heartbeat, 3*b.PollAfter)))
	}
	v, err := l.call(ctx, "beat", beatScript, room, args...)
	if err != nil {
		return Seen{}, err
	}
	l.mem.of(room.Name).saw(v[4])
	return Seen{Mark: Mark{v[0], v[1], v[2]}, Held: fromMS(v[3]), Generation: v[4]}, nil
}

// Plan is how often the tickets of a room are told to ask, as a Poll would now.
func (l *Line) Plan(room Room) PollPlan { return l.mem.of(room.Name).known(room.Rules).plan }

// After is when a ticket with so many ahead is told to ask again.
func (p PollPlan) After(ahead int64) time.Duration {
	if ahead > int64(p.Longest/max(p.PerAhead, 1)) {
		return p.Longest
	}
	return max(p.Shortest, min(time.Duration(ahead)*p.PerAhead, p.Longest))
}
