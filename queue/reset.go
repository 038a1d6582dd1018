package queue

import "context"

// Reset begins a new generation if the room is still in generation seen: the line and
// the sessions are emptied, and every older ticket and pass is foreign. It returns the
// generation in force.
func (l *Line) Reset(ctx context.Context, room Room, seen int64) (int64, error) {
	v, err := l.call(ctx, "reset", resetScript, room, seen)
	if err != nil {
		return 0, err
	}
	l.mem.of(room.Name).saw(v[0])
	return v[0], nil
}
