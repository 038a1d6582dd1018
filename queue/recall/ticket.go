package recall

import (
	"time"

	"github.com/anteroom/anteroom/queue"
)

// ticket is what is remembered of one that waits.
type ticket struct {
	place  int64
	ahead  int64      // exactly, at mark
	shown  int64      // told last; never rises
	mark   queue.Mark // of the exact answer
	exact  time.Time  // when that was
	polled time.Time
	polls  int // answers from memory since
}

// aheadAt is how many are ahead at a later mark, and never more than was told before.
func (e *ticket) aheadAt(now queue.Mark) int64 {
	return min(e.shown, max(0, e.ahead-(now.Popped-e.mark.Popped)))
}

// good tells whether an answer from memory may be given at a mark.
func (e *ticket) good(t queue.Ticket, mark queue.Mark, rules queue.Rules, now time.Time) bool {
	return e.place == t.Place && e.mark.Made == mark.Made && mark.Popped >= e.mark.Popped &&
		e.polls < MemoryPolls && now.Sub(e.exact) < ExactEvery && now.Sub(e.polled) < quiet(rules)
}

// quiet is a silence after which a ticket may have been set aside: the line is asked.
func quiet(rules queue.Rules) time.Duration {
	return max(rules.Heartbeat, 3*min(15*time.Second, rules.ClaimWindow/2)) / 2
}
