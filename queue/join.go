package queue

import "context"

// Joined is the answer of Join.
type Joined struct {
	Standing
	// Place is the ticket's order key, 0 when it has none (expired, foreign).
	Place int64
	// New is true when this call made the place.
	New bool
}

// Join asks for a place for id. With the ticket that the visitor shows, it answers
// where that ticket stands and, where the rules of keep_place allow it, puts it back;
// without one, it makes a place, straight inside when nobody waits and a slot and the
// pace are free. Joining again with the same id never makes a second place.
func (l *Line) Join(ctx context.Context, room Room, id ID, shown *Ticket) (Joined, error) {
	var place, generation int64
	if shown != nil {
		id, place, generation = shown.ID, shown.Place, shown.Generation
	}
	mem := l.mem.of(room.Name)
	k := mem.known(room.Rules)
	r := room.Rules
	v, err := l.run(ctx, "join", joinScript, room, k, string(id), place, generation,
		r.places(), us(r.Interval), r.Burst, ms(r.ClaimWindow),
		ms(k.plan.Shortest), ms(k.plan.Longest), us(k.plan.PerAhead))
	if err != nil {
		return Joined{}, err
	}
	mem.saw(v[2])
	return Joined{
		Standing: Standing{State: stateOf(v[0]), Generation: v[2], Ahead: v[3], Left: fromMS(v[4]), PollAfter: fromMS(v[5]), Held: fromMS(v[7])},
		Place:    v[1],
		New:      v[6] == 1,
	}, nil
}
