package web

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/anteroom/anteroom/admission"
	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/queue"
)

// standing is the JSON of where a ticket stands. Times are durations, never instants:
// visitors' clocks are wrong.
type standing struct {
	Room        string      `json:"room"`
	State       queue.State `json:"state"`
	Position    int64       `json:"position,omitempty"` // while waiting and known, 1 = next
	Ahead       *int64      `json:"ahead,omitempty"`    // absent while the line re-forms
	ETA         *eta        `json:"eta,omitempty"`      // while waiting and known
	PollAfterMS int64       `json:"poll_after_ms,omitempty"`
	Near        bool        `json:"near,omitempty"`         // the turn is surely within a minute
	KeepS       int64       `json:"keep_s,omitempty"`       // while waiting: for how long the place is kept in silence
	OpensInS    int64       `json:"opens_in_s,omitempty"`   // while not open
	ClaimByS    int64       `json:"claim_by_s,omitempty"`   // while admitted
	ExpiresInS  int64       `json:"expires_in_s,omitempty"` // while active
	Message     string      `json:"message"`                // the operator's words
	Notice      string      `json:"notice,omitempty"`       // ours, about what has just happened
	Reforming   bool        `json:"reforming,omitempty"`    // the line is putting itself back in order
	Target      string      `json:"target"`
	Ticket      string      `json:"ticket,omitempty"` // in the answer of a join
}

type eta struct {
	LowS  int64 `json:"low_s"`
	HighS int64 `json:"high_s"`
}

// insidePoll is how often somebody who is admitted or inside may ask.
const insidePoll = 2 * time.Second

func (s *Server) standing(room rooms.Room, at queue.Standing, target string) standing {
	nobody := int64(0)
	out := standing{Room: room.Name, State: at.State, Ahead: &nobody, Message: room.Message, Target: s.safeTarget(room, target)}
	switch at.State {
	case queue.Waiting:
		out.KeepS = floorSeconds(room.KeepPlace)
		out.PollAfterMS = queue.Jitter(at.PollAfter, rand.Float64()).Milliseconds() //nolint:gosec // spreads load, no secret
		if at.Held > 0 {                                                            // a number now would be too good, and rise later
			out.Ahead, out.Reforming = nil, true
			out.Notice = "After a fault the line is putting itself back in order. Entry goes on in a moment."
			break
		}
		status, _ := s.Statuses.Last(room.Name)
		out.Position, out.Ahead = at.Ahead+1, &at.Ahead
		if state := room.StateAt(time.Now()); state != rooms.IsOpen {
			out.State, out.OpensInS = queue.State(state), int64(math.Ceil(opensIn(room).Seconds()))
			break // nobody is let in, so no wait can be told
		}
		out.ETA = estimate(room, at.Ahead, status)
		out.Near = out.ETA.HighS < 60
	case queue.Admitted:
		out.ClaimByS, out.PollAfterMS = floorSeconds(at.Left), insidePoll.Milliseconds()
	case queue.Active:
		out.ExpiresInS, out.PollAfterMS = floorSeconds(at.Left), insidePoll.Milliseconds()
	}
	return out
}

func estimate(room rooms.Room, ahead int64, status queue.Status) *eta {
	q := room.Queue().Rules
	e := admission.Estimate(ahead, admission.Limits{Capacity: q.Capacity, Interval: q.Interval, Burst: q.Burst}, q.Session, status.PerAdmission)
	return &eta{LowS: floorSeconds(e.Low), HighS: int64(math.Ceil(e.High.Seconds()))}
}

// floorSeconds never promises more time than there is.
func floorSeconds(d time.Duration) int64 { return int64(max(0, d) / time.Second) }
