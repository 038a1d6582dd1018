package arith

// fixedWindow counts calls in windows that start at multiples of the window since 1970.
//
// State: At is the end of the window that Level counts. A window that is still running
// goes on to its own end when the rule's window changed, so a change refills nothing.
func fixedWindow(p *Params, s State, now, cost int64) (o Outcome, idle, taken State) {
	idle, taken = s, s
	switch {
	case s.At <= now:
		taken = State{At: windowEnd(now, p.Window)}
	case s.At-now > 2*p.Window: // the clock was set back, or the window was a longer one
		taken = State{At: windowEnd(now, p.Window), Level: min(s.Level, p.Limit)}
		idle = taken
	}
	level, left := taken.Level, taken.At-now
	taken.Level += cost
	if o.Allowed = taken.Level <= p.Limit; o.Allowed {
		level = taken.Level
	} else {
		o.Retry = left
	}
	o.Remaining = max(0, p.Limit-level)
	if level > 0 {
		o.Reset = left
	}
	return o, idle, taken
}

func windowEnd(now, window int64) int64 { return now - now%window + window }

// slidingCounter weighs the previous window by how much of it the sliding one still covers.
//
// State: Level counts the window that ends at At, Prev the one that ended at PrevAt.
func slidingCounter(p *Params, s State, now, cost int64) (o Outcome, idle, taken State) {
	turned, set := counterAt(p, s, now)
	if idle = s; set {
		idle = turned
	}
	at := max(now, turned.At-p.Window)    // a clock that lags stands still
	left := ceilDiv(turned.At-at, p.Tick) // ticks of the previous window that still count
	window := p.Window / p.Tick
	used := min(turned.Prev, p.Limit)*left + min(turned.Level, p.Limit)*window
	taken = turned
	taken.Level += cost
	level := turned.Level
	if o.Allowed = used+cost*window <= p.Limit*window; o.Allowed {
		level = taken.Level
		used += cost * window
	} else {
		o.Retry = turned.At - now - fadeLeft(p, turned, cost)
	}
	o.Remaining = max(0, (p.Limit*window-used)/window)
	if level > 0 {
		o.Reset = turned.At + p.Window - now
	} else if turned.Prev > 0 {
		o.Reset = turned.At - now
	}
	return o, idle, taken
}

// counterAt turns the windows over as far as the time has come. set tells that the clock
// was set back.
func counterAt(p *Params, s State, now int64) (turned State, set bool) {
	end := windowEnd(now, p.Window)
	switch {
	case s.At-now > 2*p.Window: // the clock was set back, or the window was a longer one
		s, set = State{At: end, Level: min(s.Level, p.Limit)}, true
	case s.At > now:
	case s.At > end-2*p.Window:
		s = State{At: end, PrevAt: s.At, Prev: s.Level}
	default:
		s = State{At: end}
	}
	if s.PrevAt <= s.At-2*p.Window {
		s.PrevAt, s.Prev = 0, 0
	}
	return s, set
}

// fadeLeft is how much of this window is left when the cost fits, in µs. It is negative
// when that is in the next window, where the current count is the previous one.
func fadeLeft(p *Params, s State, cost int64) int64 {
	level, prev, window := min(s.Level, p.Limit), min(s.Prev, p.Limit), p.Window/p.Tick
	if level+cost <= p.Limit {
		return (p.Limit - level - cost) * window / prev * p.Tick
	}
	return min(window, (p.Limit-cost)*window/level)*p.Tick - p.Window
}
