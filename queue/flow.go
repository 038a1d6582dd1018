package queue

import "time"

// flowWindow is how far back admissions count for the measured flow.
const flowWindow = time.Minute

// flow measures how fast a room admits while people wait, from samples of a counter
// that only grows. It is pure: the clock comes with the samples.
type flow struct {
	samples []flowSample
}

type flowSample struct {
	at    time.Time
	total int64
}

// add notes the admitted counter at a moment. Time in which nobody could be let in, since
// nobody waited or the line was held, says nothing about the flow, and a counter or clock
// that went back begins a new measurement.
func (f *flow) add(at time.Time, total int64, flowing bool) {
	if !flowing {
		f.samples = f.samples[:0]
		return
	}
	if n := len(f.samples); n > 0 && (total < f.samples[n-1].total || !at.After(f.samples[n-1].at)) {
		f.samples = f.samples[:0]
	}
	f.samples = append(f.samples, flowSample{at, total})
	old := 0
	for old < len(f.samples)-1 && at.Sub(f.samples[old].at) > flowWindow {
		old++
	}
	f.samples = append(f.samples[:0], f.samples[old:]...)
}

// perAdmission is the mean time between two admissions, 0 when fewer than five seconds
// or no admission were seen.
func (f *flow) perAdmission() time.Duration {
	n := len(f.samples)
	if n < 2 {
		return 0
	}
	span := f.samples[n-1].at.Sub(f.samples[0].at)
	count := f.samples[n-1].total - f.samples[0].total
	if span < 5*time.Second || count < 1 {
		return 0
	}
	return span / time.Duration(count)
}
