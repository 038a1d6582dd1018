package leaky

import (
	"math/bits"
	"time"
)

// Verdict is what an attempt says of its destination, other than of its job.
type Verdict int

// What an attempt says of its destination. VerdictOf gives it for a deliver.Result.
const (
	Neutral   Verdict = iota // nothing: never sent, or stopped by us
	Healthy                  // it works, also when it refuses this job
	Unhealthy                // it does not answer, or fails
	Throttled                // it wants a pause (429, 503); neither success nor failure
	Gone                     // it wants no more calls (410)
)

// BreakerState is what a destination's breaker does; a closed list, fit for a metric label.
type BreakerState string

// What a breaker does.
const (
	Closed   BreakerState = "closed"    // lets Concurrency attempts through
	Open     BreakerState = "open"      // lets none through until a time
	HalfOpen BreakerState = "half_open" // lets 1, then 2, 4 … through, as they succeed
	Disabled BreakerState = "disabled"  // lets none through until Enable
)

// BreakerConfig is what a Breaker needs to know.
type BreakerConfig struct {
	// Concurrency is how many attempts may run at once. Default 1.
	Concurrency int
	// Failures in a row open the breaker. Default 5.
	Failures int
	// Window is of how many attempts half must fail to open it, 64 at most. Default 20.
	Window int
	// OpenMin is how long failures open it; each time that the first attempts after it
	// fail too, twice as long, up to OpenMax. Defaults 1 s and 1 min. Pauses that
	// the destination asks for are as long as it says.
	OpenMin, OpenMax time.Duration
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

func (c BreakerConfig) withDefaults() BreakerConfig {
	c.Concurrency = max(c.Concurrency, 1)
	if c.Failures <= 0 {
		c.Failures = 5
	}
	if c.Window <= 0 {
		c.Window = 20
	}
	c.Window = min(c.Window, 64)
	if c.OpenMin <= 0 {
		c.OpenMin = time.Second
	}
	if c.OpenMax <= 0 {
		c.OpenMax = time.Minute
	}
	c.OpenMax = max(c.OpenMax, c.OpenMin)
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// breaker is the state machine: a value, and functions that give the next one.
//
//	            failures · pause                until has passed
//	closed ──────────────────────▶ open ──────────────────────────▶ half-open, limit 1
//	   ▲                            ▲                                 │ limit successes:
//	   │                            └──────── failure · pause ────────┤ limit × 2
//	   └──────────────────────── limit ≥ concurrency ◀────────────────┘
//
// Gone leads from everywhere to disabled, and Enable from there to half-open. An epoch
// begins with every opening: what an attempt of an earlier one says came too late to count,
// save that a destination which asks for a pause gets it whenever it asks.
type breaker struct {
	state  BreakerState
	until  time.Time // of open
	reason string    // of open and disabled, and of half-open what opened it
	epoch  uint64

	inFlight int // attempts that run, of every epoch
	probes   int // of them, those of this epoch
	limit    int // of probes, in half-open
	proven   int // successes at this limit, in half-open

	row      int    // failures in a row, in closed
	window   uint64 // the last attempts, in closed; a set bit is a failure
	filled   int    // bits of window in use
	openings int    // by failure, since closed
	pauses   int    // asked for, since the last success
}

// acquire lets an attempt through at now, or says until when none gets through; the zero
// time is until an attempt ends or an operator acts.
func (b breaker) acquire(c BreakerConfig, now time.Time) (next breaker, ok bool, until time.Time) {
	switch b.state {
	case Disabled:
		return b, false, time.Time{}
	case Open:
		if now.Before(b.until) {
			return b, false, b.until
		}
		b.state, b.limit, b.proven = HalfOpen, 1, 0
	}
	// Attempts of earlier epochs hold their places: a destination where all of them hang
	// never has more than Concurrency.
	if b.inFlight >= c.Concurrency || (b.state == HalfOpen && b.probes >= b.limit) {
		return b, false, time.Time{}
	}
	b.inFlight++
	b.probes++
	return b, true, time.Time{}
}

// report ends an attempt of the given epoch at now. pause is what the destination asked for
// with Throttled.
func (b breaker) report(c BreakerConfig, epoch uint64, v Verdict, pause time.Duration, reason string, now time.Time) breaker {
	current := epoch == b.epoch
	b.inFlight--
	if current {
		b.probes--
	}
	switch {
	case v == Gone:
		return b.disable(reason)
	case v == Throttled:
		return b.throttle(c, current, pause, reason, now)
	case !current || v == Neutral:
		return b
	case v == Healthy:
		return b.succeed(c)
	default:
		return b.fail(c, reason, now)
	}
}

// throttle obeys a pause. One of no length, "now", is believed once: if the next answer
// asks for it again, OpenMin keeps the two from going round and round.
func (b breaker) throttle(c BreakerConfig, current bool, pause time.Duration, reason string, now time.Time) breaker {
	if current {
		b.pauses++
	}
	if b.pauses > 1 {
		pause = max(pause, c.OpenMin)
	}
	return b.open(now.Add(pause), reason)
}

func (b breaker) succeed(c BreakerConfig) breaker {
	b.row, b.pauses = 0, 0
	if b.state == Closed {
		return b.remember(c, 0)
	}
	if b.proven++; b.proven >= b.limit {
		b.limit, b.proven = b.limit*2, 0
	}
	if b.limit >= c.Concurrency {
		b.state, b.reason, b.window, b.filled, b.openings = Closed, "", 0, 0, 0
	}
	return b
}

func (b breaker) fail(c BreakerConfig, reason string, now time.Time) breaker {
	if b.state == Closed {
		b.row++
		b = b.remember(c, 1)
		half := b.filled == c.Window && 2*bits.OnesCount64(b.window) >= c.Window
		if b.row < c.Failures && !half {
			return b
		}
	}
	pause := ceiling(Policy{Min: c.OpenMin, Max: c.OpenMax}, b.openings)
	b.openings++
	return b.open(now.Add(pause), reason)
}

// remember shifts one attempt into the window.
func (b breaker) remember(c BreakerConfig, failed uint64) breaker {
	b.window = (b.window<<1 | failed) & (1<<c.Window - 1)
	b.filled = min(b.filled+1, c.Window)
	return b
}

// open begins an epoch in which nothing gets through before until. A pause that is longer
// already stays.
func (b breaker) open(until time.Time, reason string) breaker {
	if b.state == Disabled || (b.state == Open && b.until.After(until)) {
		return b
	}
	b.state, b.until, b.reason = Open, until, reason
	return b.begin()
}

// disable begins an epoch in which nothing gets through.
func (b breaker) disable(reason string) breaker {
	b.state, b.until, b.reason = Disabled, time.Time{}, reason
	return b.begin()
}

func (b breaker) begin() breaker {
	b.epoch++
	b.probes, b.row, b.window, b.filled = 0, 0, 0, 0
	return b
}

// enable leads from disabled to half-open.
func (b breaker) enable() breaker {
	if b.state == Disabled {
		b.state, b.until = Open, time.Time{}
		b.openings, b.pauses = 0, 0
	}
	return b
}
