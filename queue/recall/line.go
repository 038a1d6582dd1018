package recall

import (
	"context"

	"github.com/anteroom/anteroom/queue"
)

// Steps is the line with a memory before it: what takes a ticket out of the line here is
// known here at once. Other servers hear of it.
type Steps struct {
	*queue.Line
	Memory *Recall
}

// Leave is queue.Line.Leave.
func (s Steps) Leave(ctx context.Context, room queue.Room, t queue.Ticket) (queue.State, error) {
	defer s.Memory.Forget(room.Name, t.ID)
	return s.Line.Leave(ctx, room, t)
}

// Release is queue.Line.Release.
func (s Steps) Release(ctx context.Context, room queue.Room, id queue.ID) (queue.State, error) {
	defer s.Memory.Forget(room.Name, id)
	return s.Line.Release(ctx, room, id)
}

// Away is queue.Line.Away. It forgets before and after: a poll that is answered in between
// must not undo it.
func (s Steps) Away(ctx context.Context, room queue.Room, id queue.ID) error {
	s.Memory.Forget(room.Name, id)
	defer s.Memory.Forget(room.Name, id)
	return s.Line.Away(ctx, room, id)
}

// Touch is queue.Line.Touch: whoever shows a pass may be taken out of the line.
func (s Steps) Touch(ctx context.Context, room queue.Room, passes []queue.Inside) ([]queue.Standing, error) {
	defer func() {
		for _, p := range passes {
			s.Memory.Forget(room.Name, p.ID)
		}
	}()
	return s.Line.Touch(ctx, room, passes)
}
