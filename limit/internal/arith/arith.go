package arith

// Kind selects one of the six algorithms.
type Kind uint8

// The six, in the order of the table in package limit.
const (
	FixedWindow Kind = iota + 1
	SlidingLog
	SlidingCounter
	TokenBucket
	LeakyMeter
	GCRA
)

// MostUnits bounds Capacity, PerMicro and, of the sliding counter, Limit × Window / Tick, so
// that every sum of such amounts below is still an exact float64.
const MostUnits = 1 << 50

// Params is a rule in the integers that the arithmetic needs.
type Params struct {
	Kind         Kind
	Limit        int64 // the most that one instant can be given
	Window       int64 // µs; windows only
	Tick         int64 // µs, the step in which the previous window fades; sliding counter only
	PerToken     int64 // units that a call of cost 1 takes; buckets only
	PerMicro     int64 // units that a microsecond returns; buckets only
	Capacity     int64 // Limit × PerToken; buckets only
	RecordDenied bool  // sliding log only
}

// Recovery is how long a spent limit takes to be as new, in µs, rounded up. It is also
// how far the clock may step back and be taken for two clocks that differ: time stands
// still until it has caught up. After a larger step the state is brought to the new time
// at once, as full as it was, so that no step denies for longer than one recovery.
func (p *Params) Recovery() int64 {
	switch p.Kind {
	case FixedWindow, SlidingLog:
		return p.Window
	case SlidingCounter:
		return 2 * p.Window
	default:
		return ceilDiv(p.Capacity, p.PerMicro)
	}
}

// State is what one key remembers; the zero value is a key never seen. Which fields are
// used, and for what, is said beside each algorithm.
type State struct {
	At, Level         int64
	PrevAt, Prev      int64
	PerToken, PerTime int64
	Log               []int64
}

// Outcome is the answer to one call. Retry and Reset are in µs.
type Outcome struct {
	Allowed   bool
	Remaining int64
	Retry     int64 // until the same cost fits, if nobody else calls; 0 when it was allowed
	Reset     int64 // until the key is as new, if nobody calls
}

// Try says what a call of that cost gets at now, and the state afterwards: idle when
// nothing is taken (refused here, or by another limit of the same decision), taken when it
// is. 0 ≤ cost ≤ Limit. Of an allowed call the outcome is the one after taking.
func Try(p *Params, s State, now, cost int64) (o Outcome, idle, taken State) {
	switch p.Kind {
	case FixedWindow:
		return fixedWindow(p, s, now, cost)
	case SlidingLog:
		return slidingLog(p, s, now, cost)
	case SlidingCounter:
		return slidingCounter(p, s, now, cost)
	case TokenBucket:
		return tokenBucket(p, s, now, cost)
	case LeakyMeter:
		return leakyMeter(p, s, now, cost)
	default:
		return gcra(p, s, now, cost)
	}
}

// Reduce turns count per so many µs into the units of Params.
func Reduce(count, micros int64) (perToken, perMicro int64) {
	a, b := count, micros
	for b != 0 {
		a, b = b, a%b
	}
	return micros / a, count / a
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

// Look is what Try says of a cost of 1, with what is there before such a call.
func Look(p *Params, s State, now int64) Outcome {
	rule := *p
	rule.RecordDenied = false
	o, _, _ := Try(&rule, s, now, 1)
	before, _, _ := Try(&rule, s, now, 0)
	o.Remaining, o.Reset = before.Remaining, before.Reset
	return o
}
