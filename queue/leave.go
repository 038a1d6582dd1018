package queue

import "context"

// Leave gives a ticket's place or slot up for good. It returns what the ticket gave
// up: Waiting, Admitted, Active, or Expired when it held nothing; Foreign when the
// ticket is of another generation and nothing was done.
func (l *Line) Leave(ctx context.Context, room Room, t Ticket) (State, error) {
	return l.leave(ctx, room, t.ID, t.Place, t.Generation)
}

// Release is Leave on the word of the origin, which knows the id of a pass but not
// its ticket.
func (l *Line) Release(ctx context.Context, room Room, id ID) (State, error) {
	return l.leave(ctx, room, id, 0, 0)
}

func (l *Line) leave(ctx context.Context, room Room, id ID, place, generation int64) (State, error) {
	v, err := l.call(ctx, "leave", leaveScript, room, string(id), place, generation)
	if err != nil {
		return "", err
	}
	l.mem.of(room.Name).saw(v[1])
	return stateOf(v[0]), nil
}

// Away marks a waiting ticket as gone for now: its turn passes to the next until it
// polls again. It keeps its place for as long as after any other poll.
func (l *Line) Away(ctx context.Context, room Room, id ID) error {
	_, err := l.call(ctx, "away", awayScript, room, string(id))
	return err
}
