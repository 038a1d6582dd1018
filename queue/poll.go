package queue

import "context"

// MaxPolls is the most tickets that one Poll takes: about 3 ms of Redis time.
const MaxPolls = 256

// Poll renews the alive keys of up to MaxPolls tickets of one room and answers where
// each stands, in their order. A valid ticket that is in no set is put back at its own
// place where the rules of keep_place allow it.
func (l *Line) Poll(ctx context.Context, room Room, tickets []Ticket) ([]Standing, error) {
	mem := l.mem.of(room.Name)
	k := mem.known(room.Rules)
	args := make([]any, 0, 3+3*len(tickets))
	args = append(args, ms(k.plan.Shortest), ms(k.plan.Longest), us(k.plan.PerAhead))
	for i := range tickets {
		t := &tickets[i]
		args = append(args, string(t.ID), t.Place, t.Generation)
	}
	v, err := l.run(ctx, "poll", pollScript, room, k, args...)
	if err != nil {
		return nil, err
	}
	tail := v[len(v)-5:]
	mark, held, generation := Mark{tail[0], tail[1], tail[2]}, fromMS(tail[3]), tail[4]
	mem.saw(generation)
	out := make([]Standing, len(tickets))
	for i := range out {
		a := v[4*i:]
		out[i] = Standing{State: stateOf(a[0]), Ahead: a[1], Left: fromMS(a[2]), PollAfter: fromMS(a[3]), Held: held, Generation: generation, Mark: mark}
	}
	return out, nil
}
