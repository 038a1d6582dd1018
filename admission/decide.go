package admission

import "time"

// Pace is the memory of the admission rate: a GCRA whose theoretical arrival time (TAT)
// runs ahead of the clock while people are let in as fast as the rate allows.
type Pace struct {
	// TAT is when the next admission is due at the steady rate; zero = long ago.
	TAT time.Time
	// Bound is true while the pace is what held the line back at the last tick. Only
	// such time may be made up for: idle time never turns into a burst beyond Burst.
	Bound bool
}

// Limits are the room's settings that the decision needs.
type Limits struct {
	Capacity int           // people inside at once
	Interval time.Duration // between two admissions
	Burst    int           // admissions that may fall on one instant
	Slack    time.Duration // the most lateness of a tick that is made up for
}

// due is the TAT as it counts now: never further ahead than a full burst (a clock that
// went back), never behind by more than may be made up for.
func (p Pace) due(l Limits, now time.Time) time.Time {
	tat, floor := p.TAT, now
	if ahead := now.Add(l.Interval * time.Duration(l.Burst)); tat.After(ahead) {
		tat = ahead
	}
	if p.Bound {
		floor = now.Add(-l.Slack)
	}
	if tat.Before(floor) {
		return floor
	}
	return tat
}

// Allowed is how many admissions the pace gives now.
func (p Pace) Allowed(l Limits, now time.Time) int {
	room := now.Add(l.Interval * time.Duration(l.Burst)).Sub(p.due(l, now))
	return max(0, int(room/l.Interval))
}

// Take is the pace after n admissions now.
func (p Pace) Take(l Limits, now time.Time, n int) Pace {
	return Pace{TAT: p.due(l, now).Add(l.Interval * time.Duration(n)), Bound: p.Bound}
}

// HowMany is how many of the waiting may enter now: the least of the free slots, what
// the pace gives, and those who wait.
func HowMany(l Limits, p Pace, active, waiting int, now time.Time) int {
	return max(0, min(l.Capacity-active, p.Allowed(l, now), waiting))
}

// ETA is an honest range of a wait.
type ETA struct{ Low, High time.Duration }

// Estimate is the wait of somebody with so many ahead. measured is the time between two
// admissions as seen lately, 0 when unknown; then the range runs from the pace alone
// (everybody leaves at once) to full sessions (everybody stays to the end).
func Estimate(ahead int64, l Limits, session, measured time.Duration) ETA {
	n := time.Duration(ahead + 1)
	if measured > 0 {
		return ETA{Low: n * measured * 4 / 5, High: n*measured*5/4 + time.Second}
	}
	slow := max(l.Interval, session/time.Duration(max(1, l.Capacity)))
	return ETA{Low: n * l.Interval, High: n*slow + time.Second}
}
