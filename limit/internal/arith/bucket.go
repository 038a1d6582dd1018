package arith

import "math"

// The three buckets are one calculation on the debt: how many units are missing until
// the key is as new. They differ in what is stored, and so in what a changed rule does.

// tokenBucket stores what is left.
//
// State: Level units of which PerToken made one token, as of At. A raised capacity starts
// with the tokens that were there and fills at the new rate.
func tokenBucket(p *Params, s State, now, cost int64) (o Outcome, idle, taken State) {
	idle = s
	if s.PerToken == 0 {
		s = State{At: now, Level: p.Capacity, PerToken: p.PerToken}
	}
	at, set := clock(p, s.At, now)
	if set {
		s.At, idle.At = at, at
	}
	level := min(p.Capacity, scale(p, s.Level, s.PerToken, math.Floor))
	debt := drain(p, p.Capacity-level, at-s.At)
	o, debt = p.answer(debt, cost, at-now)
	return o, idle, State{At: at, Level: p.Capacity - debt, PerToken: p.PerToken}
}

// leakyMeter stores the water level.
//
// State: Level units of which PerToken made one token, as of At. A raised capacity is room
// at once; a lowered one starts full at most.
func leakyMeter(p *Params, s State, now, cost int64) (o Outcome, idle, taken State) {
	idle = s
	if s.PerToken == 0 {
		s = State{At: now, PerToken: p.PerToken}
	}
	at, set := clock(p, s.At, now)
	if set {
		s.At, idle.At = at, at
	}
	level := min(p.Capacity, scale(p, s.Level, s.PerToken, math.Ceil))
	debt := drain(p, level, at-s.At)
	o, debt = p.answer(debt, cost, at-now)
	return o, idle, State{At: at, Level: debt, PerToken: p.PerToken}
}

// gcra stores when the debt is paid: the theoretical arrival time (TAT) of ITU-T I.371,
// here the time at which the key is as new. It is At microseconds and Level parts of
// which PerTime make a microsecond; PerTime and PerToken are those of the rule that wrote
// it, because the time alone says nothing about calls once the rate has changed.
func gcra(p *Params, s State, now, cost int64) (o Outcome, idle, taken State) {
	idle = s
	debt := int64(0)
	ahead := s.At - now
	switch {
	case s.PerToken == 0 || ahead < 0:
	case s.PerTime != p.PerMicro || s.PerToken != p.PerToken:
		debt = owed(p, s, ahead)
		idle = p.tat(now, debt)
	case ahead > 2*p.Recovery(): // the clock was set back
		debt = p.Capacity
		idle = p.tat(now, debt)
	default:
		debt = ahead*p.PerMicro + s.Level
	}
	o, debt = p.answer(debt, cost, 0)
	return o, idle, p.tat(now, debt)
}

func (p *Params) tat(now, debt int64) State {
	return State{At: now + debt/p.PerMicro, Level: debt % p.PerMicro, PerTime: p.PerMicro, PerToken: p.PerToken}
}

// owed is the debt of another rate in the units of this one, at most all.
func owed(p *Params, s State, ahead int64) int64 {
	// The conversion keeps the compiler from fusing the two steps into one rounding.
	parts := float64(float64(ahead)*float64(s.PerTime)) + float64(s.Level)
	tokens := parts / float64(s.PerToken)
	if tokens >= float64(p.Limit) {
		return p.Capacity
	}
	return min(p.Capacity, int64(math.Ceil(tokens*float64(p.PerToken))))
}

// clock is the time that counts for a state of a given time: a clock that lags stands
// still, one that was set back further than a recovery is followed (set).
func clock(p *Params, at, now int64) (counts int64, set bool) {
	if now >= at {
		return now, false
	}
	if at-now <= p.Recovery() {
		return at, false
	}
	return now, true
}

// drain is the debt after so many µs.
func drain(p *Params, debt, elapsed int64) int64 {
	if elapsed >= p.Recovery() {
		return 0
	}
	return max(0, debt-elapsed*p.PerMicro)
}

// answer decides on a debt and returns the debt after taking.
func (p *Params) answer(debt, cost, lag int64) (Outcome, int64) {
	taken := debt + cost*p.PerToken
	o := Outcome{Allowed: taken <= p.Capacity}
	if o.Allowed {
		debt = taken
	} else {
		o.Retry = ceilDiv(taken-p.Capacity, p.PerMicro) + lag
	}
	o.Remaining = max(0, p.Capacity-debt) / p.PerToken
	if debt > 0 {
		o.Reset = ceilDiv(debt, p.PerMicro) + lag
	}
	return o, debt
}

// scale turns an amount in units of another rule into units of this one, at most the
// capacity. The part of a whole token is scaled in floating point, as Lua does it.
func scale(p *Params, n, perToken int64, round func(float64) float64) int64 {
	if perToken == p.PerToken {
		return n
	}
	whole, part := n/perToken, n%perToken
	if whole >= p.Limit {
		return p.Capacity
	}
	return whole*p.PerToken + int64(round(float64(part)/float64(perToken)*float64(p.PerToken)))
}
