package web

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/queue"
)

// States of a standing that the room has and not the ticket.
const (
	statePaused  = queue.State(rooms.Paused)
	stateClosed  = queue.State(rooms.Closed)
	stateNotOpen = queue.State(rooms.NotOpen)
	stateFull    = queue.State("full")
)

// shut says why a room gives no new places now; "" when it does.
func (s *Server) shut(room rooms.Room) queue.State {
	switch room.StateAt(time.Now()) {
	case rooms.Closed:
		return stateClosed
	case rooms.NotOpen:
		return stateNotOpen
	}
	if status, ok := s.Statuses.Last(room.Name); ok && room.MaxWaiting > 0 && status.Waiting >= int64(room.MaxWaiting) {
		return stateFull
	}
	return ""
}

const (
	shutPoll = 15 * time.Second // how often a page looks whether a room gives places again
	opensMin = 2 * time.Second
)

// opensIn is how long until a room opens; 0 when it has.
func opensIn(room rooms.Room) time.Duration { return max(0, time.Until(room.Opens)) }

// shutStanding is the standing of a visitor without a place in a room that gives none. Before
// the opening the page comes back at the opening, not sooner; pages that were told the same
// moment spread over two seconds.
func (s *Server) shutStanding(room rooms.Room, state queue.State, target string) standing {
	out := standing{Room: room.Name, State: state, Message: room.Message, Target: s.safeTarget(room, target)}
	again := queue.Jitter(shutPoll, rand.Float64()) //nolint:gosec // spreads load, no secret
	if state == stateNotOpen {
		left := opensIn(room)
		out.OpensInS = int64(math.Ceil(left.Seconds()))
		again = min(max(left, 0)+time.Duration(rand.Float64()*float64(opensMin)), 10*time.Minute) //nolint:gosec // spreads load, no secret
	}
	out.PollAfterMS = again.Milliseconds()
	return out
}
