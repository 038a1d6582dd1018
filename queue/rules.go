package queue

import (
	"errors"
	"fmt"
	"time"
)

// Rules are the settings of one room that the line's steps need. They come from
// the rooms file; the line itself stores none of them.
type Rules struct {
	// Capacity is how many people may be inside at once, admitted but not yet
	// claimed turns included. 1 to 10,000,000.
	Capacity int
	// Interval is the time between two admissions at the room's pace, a whole
	// number of microseconds, at least 1.
	Interval time.Duration
	// Burst is how many admissions may fall on one instant after idle time, at least 1.
	Burst int
	// Session is how long a claimed turn stays inside.
	Session time.Duration
	// ClaimWindow is how long an admitted visitor has to claim the turn before
	// it goes to the next.
	ClaimWindow time.Duration
	// Heartbeat is the silence after which a ticket is passed over.
	Heartbeat time.Duration
	// KeepPlace is the silence after which a ticket loses its place.
	KeepPlace time.Duration
	// Hold lets nobody in, also nobody straight in: the room is paused, closed or not open
	// yet. Turns that were given can be claimed, and slots end as always.
	Hold bool
}

// places is how many may be inside as far as letting in goes.
func (r Rules) places() int {
	if r.Hold {
		return 0
	}
	return r.Capacity
}

// Room is a room's name with the rules that are in force now.
type Room struct {
	Name  string
	Rules Rules
}

// MaxCapacity is the largest capacity of a room.
const MaxCapacity = 10_000_000

// ErrRules is wrapped by every error of Rules.Validate.
var ErrRules = errors.New("queue: rules out of range")

// Validate reports every rule that the scripts could not carry out exactly.
func (r Rules) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrRules}, args...)...))
		}
	}
	check(r.Capacity >= 1 && r.Capacity <= MaxCapacity, "capacity is %d, want 1 to %d", r.Capacity, MaxCapacity)
	check(r.Interval >= time.Microsecond, "interval is %v, want at least 1µs", r.Interval)
	check(r.Burst >= 1 && r.Burst <= MaxCapacity, "burst is %d, want 1 to %d", r.Burst, MaxCapacity)
	check(r.Session >= time.Millisecond, "session is %v, want at least 1ms", r.Session)
	check(r.ClaimWindow >= time.Millisecond, "claim window is %v, want at least 1ms", r.ClaimWindow)
	check(r.Heartbeat >= time.Millisecond, "heartbeat is %v, want at least 1ms", r.Heartbeat)
	check(r.KeepPlace >= r.Heartbeat, "keep_place is %v, shorter than heartbeat %v", r.KeepPlace, r.Heartbeat)
	return errors.Join(errs...)
}
