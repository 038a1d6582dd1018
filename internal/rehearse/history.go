package rehearse

import "time"

// State is what an answer said about a ticket.
type State uint8

// The states that the checks tell apart.
const (
	NoState  State = iota
	Waiting        // in the line
	Away           // in the line, but silent for too long
	Admitted       // its turn, not taken up yet
	Active         // inside
	Gone           // expired, left, or "join again"
	Shut           // the room is closed or not open yet
)

// String is the word of the HTTP contract.
func (s State) String() string {
	return [...]string{"nothing", "waiting", "away", "admitted", "active", "gone", "shut"}[s]
}

func stateOf(name string) State {
	switch name {
	case "waiting":
		return Waiting
	case "away":
		return Away
	case "admitted":
		return Admitted
	case "active":
		return Active
	case "expired", "left":
		return Gone
	case "closed", "not_open":
		return Shut
	}
	return NoState
}

// End is how a visitor's story ended.
type End uint8

// The ends of a story.
const (
	Unfinished End = iota // the run was over first
	Served                // was inside and left
	LeftLine              // left while it waited
	NoShow                // was admitted and never claimed, on purpose
	Refused               // was told to join again
	Straight              // got the shop's page without a pass
)

// Span is a request: when it was first sent, and when the answer that settled it arrived.
// Both count from the start of the run; Answered is 0 while there was none.
type Span struct{ Sent, Answered time.Duration }

// Stand is one answer about a ticket's standing.
type Stand struct {
	Sent, Answered time.Duration
	PollAfter      time.Duration // when to ask next
	Position       int32         // 1 = next; 0 = none told
	State          State
}

// Claim is one claim that succeeded.
type Claim struct {
	Sent, Answered time.Duration
	Expires        time.Duration // rest of the session by the answer
	Sub            string        // whose slot, by the pass
}

// Visitor is what happened to one visitor, as far as HTTP told.
type Visitor struct {
	Joined   Span // Sent is that of the first attempt: it may have counted
	Stood    []Stand
	Claiming time.Duration // when the first attempt to claim was sent
	Claims   []Claim
	Release  Span  // leaving, from inside or from the line
	After    State // what it was told once more after it had left; NoState = nothing
	// Slept is when the visitor went away on purpose: after its last request was answered.
	Slept     bool
	AwayFrom  time.Duration
	Refusal   Span   // the request that was told "join again"
	RefusedTo string // what that request wanted: poll, claim or leave
	End       End
	Visits    []Visit // page loads through the gate; none if there is no gate
}

// History is everything that the checks see, one entry a visitor.
type History []Visitor

// joined tells whether the visitor was given a place.
func (v *Visitor) joined() bool { return v.Joined.Answered > 0 }

// turn is the first answer, sent after a moment, that said it was the visitor's turn.
func (v *Visitor) turn(after time.Duration) (Stand, bool) {
	for _, s := range v.Stood {
		if (s.State == Admitted || s.State == Active) && s.Sent > after {
			return s, true
		}
	}
	return Stand{}, false
}

// lastWaiting is when the last request was sent, answered before a moment, that was told
// "waiting"; negative when there is none.
func (v *Visitor) lastWaiting(before time.Duration) time.Duration {
	for i := len(v.Stood) - 1; i >= 0; i-- {
		if s := v.Stood[i]; s.State == Waiting && s.Answered < before {
			return s.Sent
		}
	}
	return -1
}

// firstWaiting is the first answer "waiting" to a request sent after a moment, and when
// the visitor had been answered before.
func (v *Visitor) firstWaiting(after time.Duration) (first Stand, asked time.Duration, ok bool) {
	for _, s := range v.Stood {
		if s.State == Waiting && s.Sent > after {
			return s, asked, true
		}
		asked = s.Answered
	}
	return Stand{}, 0, false
}

// patience is how long the line surely waits for a ticket that was told to ask after
// pollAfter: three of those intervals, and never less than the heartbeat.
func patience(heartbeat, pollAfter time.Duration) time.Duration {
	return max(heartbeat, 3*pollAfter)
}

// longestPatience is how long it may wait at most. What a ticket is told is spread over the
// last quarter of the interval that the line has in mind.
func longestPatience(heartbeat, pollAfter time.Duration) time.Duration {
	return max(heartbeat, 4*pollAfter)
}

// faithful tells whether the visitor asked often enough, all the time that it waited, for
// its turn never to pass to the next.
func (v *Visitor) faithful(heartbeat time.Duration) bool {
	if !v.joined() || v.Slept || v.End == LeftLine || v.End == NoShow {
		return false
	}
	for i := 1; i < len(v.Stood); i++ {
		before, s := v.Stood[i-1], v.Stood[i]
		if before.State == Waiting && s.Answered-before.Sent > patience(heartbeat, before.PollAfter) {
			return false
		}
	}
	return true
}
