package arith

// slidingLog remembers the time of every allowed call; with RecordDenied that of refused
// ones too, and then the newest Limit of all.
//
// State: Log has the times in order, one for each unit of cost. The states that are
// returned may share memory: the caller keeps one of them.
func slidingLog(p *Params, s State, now, cost int64) (o Outcome, idle, taken State) {
	at := logTime(p, s.Log, now)
	log := logAt(p, s.Log, at)
	size := int64(len(log))
	o.Allowed = size+cost <= p.Limit
	idle, taken.Log = s, log
	if n := len(s.Log); n > 0 && s.Log[n-1] > at {
		idle.Log = log // the clock was set back
	}
	if o.Allowed || p.RecordDenied {
		for range cost {
			taken.Log = append(taken.Log, at)
		}
	}
	if p.RecordDenied {
		taken.Log = taken.Log[max(0, int64(len(taken.Log))-p.Limit):]
		if !o.Allowed {
			idle = taken
		}
	}
	after := log
	if o.Allowed || p.RecordDenied {
		after = taken.Log
	}
	size = int64(len(after))
	if !o.Allowed {
		o.Retry = after[size+cost-p.Limit-1] + p.Window - now
	}
	o.Remaining = max(0, p.Limit-size)
	if size > 0 {
		o.Reset = after[size-1] + p.Window - now
	}
	return o, idle, taken
}

// logTime is the time that counts: a clock that lags the newest entry stands still.
func logTime(p *Params, log []int64, now int64) int64 {
	if n := len(log); n > 0 && log[n-1] > now && log[n-1]-now <= p.Window {
		return log[n-1]
	}
	return now
}

// logAt is the log without what has left the window. Entries of a time to come are of a
// clock that was set back: they count as of now.
func logAt(p *Params, log []int64, now int64) []int64 {
	if n := len(log); n > 0 && log[n-1] > now {
		moved := make([]int64, n)
		for i, t := range log {
			moved[i] = min(t, now)
		}
		log = moved
	}
	for len(log) > 0 && log[0] <= now-p.Window {
		log = log[1:]
	}
	return log
}
