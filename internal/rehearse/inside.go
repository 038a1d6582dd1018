package rehearse

import (
	"slices"
	"time"
)

// doubt is taken off the time that an answer gives to a session, which is in whole seconds.
const doubt = time.Second

// Inside is how many people were inside, over time.
type Inside struct {
	// Highest is the most that were surely inside at one moment, At that moment.
	Highest int
	At      time.Duration
	// Possible is the most that may have been inside at one moment.
	Possible int
	// Seconds has the most that were surely inside in each second of the run.
	Seconds []int
}

// countInside counts people inside. Half-open spans: who leaves at the moment at which
// another enters made room.
func countInside(h History) Inside {
	var sure, possible []edge
	for i := range h {
		if from, to, ok := h[i].surelyInside(); ok && from < to {
			sure = append(sure, edge{from, 1}, edge{to, -1})
		}
		if from, to, ok := h[i].possiblyInside(); ok {
			possible = append(possible, edge{from, 1}, edge{to, -1})
		}
	}
	var in Inside
	in.Highest, in.At, in.Seconds = sweep(sure)
	in.Possible, _, _ = sweep(possible)
	return in
}

// surelyInside is the time for which the answers prove that the visitor held a slot: from
// the arrival of the first claim's answer until its release was first sent or the session
// that the claims were told may have ended.
func (v *Visitor) surelyInside() (from, to time.Duration, ok bool) {
	if len(v.Claims) == 0 {
		return 0, 0, false
	}
	from = v.Claims[0].Answered
	for _, c := range v.Claims {
		to = max(to, c.Sent+c.Expires-doubt)
	}
	if v.Release.Sent > 0 {
		to = min(to, v.Release.Sent)
	}
	if v.End == Refused {
		to = min(to, v.Refusal.Sent)
	}
	return from, to, true
}

// possiblyInside is the longest time for which the visitor may have held a slot it used.
func (v *Visitor) possiblyInside() (from, to time.Duration, ok bool) {
	if len(v.Claims) == 0 {
		return 0, 0, false
	}
	for _, c := range v.Claims {
		to = max(to, c.Answered+c.Expires+doubt)
	}
	if v.Release.Answered > 0 {
		to = min(to, v.Release.Answered)
	}
	return v.Claiming, to, true
}

type edge struct {
	at   time.Duration
	step int
}

// sweep returns the highest level, when it was first reached, and the highest in each second.
func sweep(edges []edge) (highest int, at time.Duration, seconds []int) {
	slices.SortFunc(edges, func(a, b edge) int {
		if a.at != b.at {
			return int(min(1, max(-1, a.at-b.at)))
		}
		return a.step - b.step
	})
	level := 0
	for _, e := range edges {
		second := int(e.at / time.Second)
		for len(seconds) <= second {
			seconds = append(seconds, level) // carried over from the second before
		}
		level += e.step
		seconds[second] = max(seconds[second], level)
		if level > highest {
			highest, at = level, e.at
		}
	}
	return highest, at, seconds
}
