package limit

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/anteroom/anteroom/limit/internal/arith"
)

// Algorithm names one of the six; the table of the package comment compares them.
type Algorithm string

// The six algorithms.
const (
	FixedWindow    Algorithm = "fixed_window"
	SlidingLog     Algorithm = "sliding_log"
	SlidingCounter Algorithm = "sliding_counter"
	TokenBucket    Algorithm = "token_bucket"
	LeakyMeter     Algorithm = "leaky_meter"
	GCRA           Algorithm = "gcra"
)

// Algorithms are all six, in the order of the table.
func Algorithms() []Algorithm {
	return []Algorithm{FixedWindow, SlidingLog, SlidingCounter, TokenBucket, LeakyMeter, GCRA}
}

// Rate is Count calls of cost 1 in Per: a window's content and length, or the speed at
// which a bucket recovers.
type Rate struct {
	Count int64
	Per   time.Duration // whole microseconds, from a millisecond to a year
}

// Rule is what a limit says. Nothing has a default.
type Rule struct {
	// Name is the rule's name in keys, decisions and metrics: [a-z0-9][a-z0-9_-]{0,62}.
	Name      string
	Algorithm Algorithm
	Rate      Rate
	// Burst is how many calls of cost 1 one instant may bring. A window lets its whole
	// count through at once, so there Burst must say Rate.Count; a bucket's is its capacity,
	// of which 1 allows no two calls together.
	Burst int64
	// MaxCost is the largest cost that a call may have, 1 to Burst.
	MaxCost int64
	// RecordDenied makes refused calls count too, so that a caller who does not slow down
	// stays refused. Sliding log only.
	RecordDenied bool
}

// MostLogged is the largest count of a sliding log: it keeps that many entries for a key
// and reads and writes them in one step.
const MostLogged = 10_000

const (
	shortestPer = time.Millisecond
	longestPer  = 366 * 24 * time.Hour
)

// ErrRule is wrapped by every complaint about a rule.
var ErrRule = errors.New("limit: unusable rule")

// Validate reports everything that is wrong with the rule at once, wrapped in ErrRule.
func (r Rule) Validate() error {
	errs := append(r.nameErrors(), r.rateErrors()...)
	if len(errs) == 0 {
		errs = r.burstErrors()
	}
	if len(errs) == 0 {
		if p := r.params(); !r.fits(p) {
			errs = append(errs, fmt.Errorf("burst %d at %d per %v overflows: the numbers are kept in integers below 2^53; take a smaller burst or a rate that divides evenly", r.Burst, r.Rate.Count, r.Rate.Per))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("%w %q: %w", ErrRule, r.Name, errors.Join(errs...))
}

func (r Rule) nameErrors() (errs []error) {
	if !validName(r.Name) {
		errs = append(errs, errors.New("name: want [a-z0-9][a-z0-9_-]{0,62}"))
	}
	if r.Algorithm.kind() == 0 {
		errs = append(errs, fmt.Errorf("algorithm %q: want one of %v", r.Algorithm, Algorithms()))
	}
	return errs
}

func (r Rule) rateErrors() (errs []error) {
	if r.Rate.Count <= 0 {
		errs = append(errs, fmt.Errorf("rate: count is %d, want 1 or more", r.Rate.Count))
	}
	switch per := r.Rate.Per; {
	case per < shortestPer || per > longestPer:
		errs = append(errs, fmt.Errorf("rate: per is %v, want %v to %v", per, shortestPer, longestPer))
	case per%time.Microsecond != 0:
		errs = append(errs, fmt.Errorf("rate: per is %v, want whole microseconds", per))
	}
	return errs
}

func (r Rule) burstErrors() (errs []error) {
	switch {
	case r.Burst == 0:
		errs = append(errs, errors.New("burst is missing: write how many calls one instant may bring"))
	case r.Burst < 0:
		errs = append(errs, fmt.Errorf("burst is %d, want 1 or more", r.Burst))
	case r.windowed() && r.Burst != r.Rate.Count:
		errs = append(errs, fmt.Errorf("burst is %d: a %s lets its whole count through at once, write burst %d", r.Burst, r.Algorithm, r.Rate.Count))
	case r.MaxCost <= 0:
		errs = append(errs, fmt.Errorf("max cost is %d, want 1 or more", r.MaxCost))
	case r.MaxCost > r.Burst:
		errs = append(errs, fmt.Errorf("max cost %d is above burst %d: such a call could never pass", r.MaxCost, r.Burst))
	}
	if r.Algorithm == SlidingLog && r.Rate.Count > MostLogged {
		errs = append(errs, fmt.Errorf("count is %d: a sliding_log keeps every call, at most %d; take sliding_counter or gcra", r.Rate.Count, MostLogged))
	}
	if r.RecordDenied && r.Algorithm != SlidingLog {
		errs = append(errs, fmt.Errorf("record denied: a %s records no calls, only a sliding_log does", r.Algorithm))
	}
	return errs
}

func (r Rule) windowed() bool { return r.Algorithm.kind() <= arith.SlidingCounter }

// params is the rule in integers. It does not check them.
func (r Rule) params() arith.Params {
	micros := r.Rate.Per.Microseconds()
	p := arith.Params{Kind: r.Algorithm.kind(), Limit: r.Burst, RecordDenied: r.RecordDenied}
	if r.windowed() {
		p.Window, p.Tick = micros, 1
		if float64(r.Burst)*float64(micros) > arith.MostUnits && micros%1000 == 0 {
			p.Tick = 1000
		}
		return p
	}
	p.PerToken, p.PerMicro = arith.Reduce(r.Rate.Count, micros)
	p.Capacity = r.Burst * p.PerToken
	return p
}

// fits tells whether all arithmetic stays exact in float64, Lua's only number.
func (r Rule) fits(p arith.Params) bool {
	burst := float64(r.Burst)
	switch r.Algorithm {
	case FixedWindow, SlidingLog:
		return burst <= arith.MostUnits
	case SlidingCounter:
		return burst*float64(p.Window/p.Tick) <= arith.MostUnits
	default:
		return math.Max(burst*float64(p.PerToken), float64(p.PerMicro)) <= arith.MostUnits
	}
}

func (a Algorithm) kind() arith.Kind {
	for i, known := range Algorithms() {
		if a == known {
			return arith.Kind(i + 1)
		}
	}
	return 0
}

func validName(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '-' && c != '_') {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 63
}
