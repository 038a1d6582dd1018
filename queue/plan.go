package queue

import "time"

// PollPlan is how often the tickets of a line are told to ask.
type PollPlan struct {
	Shortest, Longest time.Duration
	// PerAhead is added to the interval for each person ahead.
	PerAhead time.Duration
}

const (
	shortestPoll = 2 * time.Second
	longestPoll  = 15 * time.Second
	// pollsOfWait is into how many polls the expected wait is cut.
	pollsOfWait = 5
)

// planPolls spaces polls by the expected wait: a fifth of it, at least 2 s so that a
// turn is noticed soon, at most 15 s so that a page never looks dead. perAdmission is
// the time between two admissions as measured, or the pace's interval.
func planPolls(perAdmission time.Duration) PollPlan {
	return PollPlan{Shortest: shortestPoll, Longest: longestPoll, PerAhead: min(perAdmission, time.Minute) / pollsOfWait}
}

// interval is what a ticket with so many ahead is told; the scripts compute the same.
func (p PollPlan) interval(ahead int64) time.Duration {
	if p.PerAhead > 0 && ahead > int64(p.Longest/p.PerAhead) {
		return p.Longest
	}
	whole := (time.Duration(ahead) * p.PerAhead).Truncate(time.Millisecond)
	return max(p.Shortest, min(whole, p.Longest))
}

// settle is how long admission waits while a forgotten line of about waiting people
// re-forms: everyone who lives has polled once by then. waiting < 0 means unknown.
func (p PollPlan) settle(waiting int64) time.Duration {
	if waiting < 0 {
		return p.Longest + time.Second
	}
	return p.interval(waiting) + time.Second
}

// Jitter spreads polls over the last quarter of the interval, so that pages which
// were told the same do not come together. random is in [0,1).
func Jitter(interval time.Duration, random float64) time.Duration {
	return interval - time.Duration(random*float64(interval)/4)
}
