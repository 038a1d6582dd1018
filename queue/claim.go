package queue

import "context"

// Claim takes up an admitted ticket's turn: its slot lasts a session from now. Again
// while inside it answers the same slot. Any other state means that it is not this
// ticket's turn.
func (l *Line) Claim(ctx context.Context, room Room, t Ticket) (Standing, error) {
	v, err := l.call(ctx, "claim", claimScript, room, string(t.ID), t.Place, t.Generation, ms(room.Rules.Session))
	if err != nil {
		return Standing{}, err
	}
	l.mem.of(room.Name).saw(v[2])
	return Standing{State: stateOf(v[0]), Left: fromMS(v[1]), Inside: fromMS(v[4]), Generation: v[2]}, nil
}
