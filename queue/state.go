package queue

import "time"

// State says where a ticket stands.
type State string

// The states of a ticket.
const (
	Waiting  State = "waiting"  // in the line
	Admitted State = "admitted" // its turn, not yet claimed
	Active   State = "active"   // inside
	Away     State = "away"     // marked as gone for now, place kept
	Expired  State = "expired"  // was inside, left, missed its turn or stayed away too long
	Foreign  State = "foreign"  // of another generation: as if it had no ticket
	Left     State = "left"     // gave its place up
	Moved    State = "moved"    // its place was taken over by another device
)

// states follows the numbers of lua/prelude.lua.
var states = [...]State{1: Waiting, 2: Admitted, 3: Active, 4: Expired, 5: Foreign, 6: Left, 7: Moved}

func stateOf(code int64) State {
	if code < 1 || code >= int64(len(states)) {
		return Expired
	}
	return states[code]
}

// Standing is where one ticket stands at one moment of Redis TIME.
type Standing struct {
	State State
	// Ahead is how many tickets are before this one, while waiting; away ones count.
	Ahead int64
	// Held is for how long admission still waits for a forgotten line to re-form. Until
	// then Ahead counts only those who came back so far.
	Held time.Duration
	// Left is what remains of the claim window (admitted) or the session (active).
	Left time.Duration
	// Inside is for how long the visitor has been inside, in the answer of a claim.
	Inside time.Duration
	// PollAfter is when to ask again, before jitter, while waiting.
	PollAfter time.Duration
	// Generation is the room's generation now.
	Generation int64
	// Mark is how far the line had moved, in the answer of a poll.
	Mark Mark
}
