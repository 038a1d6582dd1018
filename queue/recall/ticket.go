package recall

import (
	"time"

	"github.com/anteroom/anteroom/queue"
)

// ticket is what is remembered of one that waits.
type ticket struct {
	place  int64
	ahead  int64      // at mark
	mark   queue.Mark // of the last answer
	shown  int64      // told last; never rises
	exact  time.Time  // when the line was asked last
	polled time.Time
	polls  int // answers from memory since
}

// good tells whether an answer from memory may be given at a mark.
func (e *ticket) good(t queue.Ticket, mark queue.Mark, rules queue.Rules, now time.Time) bool {
	return e.place == t.Place && e.mark.Made == mark.Made && mark.Popped >= e.mark.Popped && mark.Shifts >= e.mark.Shifts &&
		e.polls < MemoryPolls && now.Sub(e.exact) < ExactEvery && now.Sub(e.polled) < quiet(rules)
}

// move brings the ticket to a later mark; false when what happened until then is not known.
func (e *ticket) move(to queue.Mark, m *moves) bool {
	by, ok := m.between(e.mark, to, e.place)
	if !ok {
		return false
	}
	e.ahead = max(0, e.ahead-(to.Popped-e.mark.Popped)+by)
	e.mark, e.shown = to, min(e.shown, e.ahead)
	return true
}

// quiet is a silence after which a ticket may have been set aside: the line is asked.
func quiet(rules queue.Rules) time.Duration {
	return max(rules.Heartbeat, 3*min(15*time.Second, rules.ClaimWindow/2)) / 2
}
