package rehearse

import (
	"math"
	"math/rand/v2"
	"time"
)

// Role is what a visitor means to do.
type Role uint8

// The roles.
const (
	Plain   Role = iota // waits, enters, stays, leaves
	Leaver              // gives up after a time, if still waiting
	Sleeper             // goes silent for a time, if still waiting, and comes back
	Absent              // is admitted and never claims
)

// Plan is what one visitor is going to do.
type Plan struct {
	Role   Role
	Arrive time.Duration // when it joins, from the start of the run
	Turn   time.Duration // when it leaves or falls asleep, from its join
	Probe  bool          // claims once more while inside, and asks once more after leaving
	// Address is the shop's page that it wants; empty = it asks the API alone.
	Address string
}

// plans makes the crowd: exact numbers of each role in random order, arrivals spread
// evenly at random over the arrival time.
func plans(c *Config, rnd *rand.Rand) []Plan {
	roles := make([]Role, 0, c.Visitors)
	for _, part := range []struct {
		role  Role
		share Share
	}{{Leaver, c.Leave}, {Sleeper, c.Sleep}, {Absent, c.NoShow}} {
		for range part.share.of(c.Visitors) {
			roles = append(roles, part.role)
		}
	}
	crowd := make([]Plan, c.Visitors)
	probes := c.Probe.of(c.Visitors)
	order, probing := rnd.Perm(c.Visitors), rnd.Perm(c.Visitors)
	for i := range crowd {
		p := &crowd[i]
		if n := order[i]; n < len(roles) {
			p.Role = roles[n]
		}
		p.Probe = probing[i] < probes
		p.Arrive = upTo(rnd, c.Arrive)
		p.Turn = upTo(rnd, c.Within)
		if n := len(c.Through); n > 0 {
			p.Address = c.Through[rnd.IntN(n)]
		}
	}
	return crowd
}

// of is the share of n, rounded.
func (s Share) of(n int) int { return int(math.Round(float64(s) * float64(n))) }

func upTo(rnd *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(rnd.Float64() * float64(d))
}

// The pauses of the queue page after a request that failed: full jitter, doubled each
// time, never before the server's Retry-After.
const (
	pauseStep = time.Second
	pauseMost = 15 * time.Second
	pauseAsk  = 5 * time.Minute // the longest Retry-After that is obeyed
)

// pause is how long to wait after so many failures in a row.
func pause(failures int, retryAfter time.Duration, rnd *rand.Rand) time.Duration {
	most := min(pauseMost, pauseStep<<min(failures, 10))
	return max(min(retryAfter, pauseAsk), upTo(rnd, most))
}
