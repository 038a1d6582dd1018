package queue

import (
	"context"
	"time"
)

// Inside is a pass that somebody shows: its id, its generation and its end.
type Inside struct {
	ID         ID
	Generation int64
	Ends       time.Time
	// Since is when the visitor went inside, as the pass says. The line remembers it too,
	// and believes itself first.
	Since time.Time
	// Extend above 0 lengthens a claimed slot to that long from now, but to no more than Most
	// in all; it shortens none.
	Extend, Most time.Duration
}

// Touch notes that the holders of passes are active, up to MaxPolls a call, and says where
// each stands: active, or expired when its slot is over, left or released. A valid pass
// whose slot Redis forgot takes it again until its end, over capacity if it must.
func (l *Line) Touch(ctx context.Context, room Room, passes []Inside) ([]Standing, error) {
	args := make([]any, 0, 6*len(passes))
	for _, p := range passes {
		args = append(args, string(p.ID), p.Generation, p.Ends.UnixMilli(), ms(p.Extend), ms(p.Most), max(0, p.Since.UnixMilli()))
	}
	v, err := l.call(ctx, "touch", touchScript, room, args...)
	if err != nil {
		return nil, err
	}
	generation := v[len(v)-1]
	l.mem.of(room.Name).saw(generation)
	out := make([]Standing, len(passes))
	for i := range out {
		out[i] = Standing{State: stateOf(v[2*i]), Left: fromMS(v[2*i+1]), Generation: generation}
	}
	return out, nil
}
