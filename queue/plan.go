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
	// PollsOfWait is into how many polls the expected wait is cut.
	PollsOfWait = 5
	// slowestPoll is how often a page without script asks: a shorter refresh would take
	// the focus away from people who use assistive tools.
	slowestPoll = 20 * time.Second
	// settle is how long admission waits while a forgotten line re-forms: whatever a
	// ticket was told, and by whichever process, it has asked once by then. A silence of
	// less than that says nothing about an outage, for there may be one visitor only.
	settle = slowestPoll + time.Second
)

// planPolls spaces polls by the expected wait: a fifth of it, at least 2 s so that a
// turn is noticed soon, at most 15 s so that a page never looks dead, and never more than
// half a claim window, so that nobody who polls when told misses a turn, however wrong
// the expectation was. perAdmission is the time between two admissions as measured, or
// the pace's interval.
func planPolls(perAdmission, claimWindow time.Duration) PollPlan {
	longest := min(longestPoll, claimWindow/2)
	return PollPlan{Shortest: min(shortestPoll, longest), Longest: longest, PerAhead: min(perAdmission, time.Minute) / PollsOfWait}
}

// Jitter spreads polls over the last quarter of the interval, so that pages which
// were told the same do not come together. random is in [0,1).
func Jitter(interval time.Duration, random float64) time.Duration {
	return interval - time.Duration(random*float64(interval)/4)
}
