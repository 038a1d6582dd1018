package jobreceiver

import (
	"fmt"
	"time"
)

// Report is what a run looked like to the receiver.
type Report struct {
	Arrivals   int
	Jobs       int            // different ones
	Duplicates map[string]int // arrivals of a job beyond its first
	Forged     int            // arrivals whose signature is not valid
	Busiest    int            // most arrivals within any second, its start included and its end not
	Shortest   time.Duration  // the shortest gap between two arrivals
	Took       time.Duration  // from the first to the last arrival
}

// Summarize makes the report of arrivals in the order of their times.
func Summarize(arrivals []Arrival) Report {
	r := Report{Arrivals: len(arrivals), Duplicates: map[string]int{}, Busiest: Busiest(arrivals, time.Second)}
	seen := map[string]bool{}
	for i, a := range arrivals {
		if seen[a.ID] {
			r.Duplicates[a.ID]++
		}
		seen[a.ID] = true
		if a.Forged != nil {
			r.Forged++
		}
		if i > 0 {
			if gap := a.At.Sub(arrivals[i-1].At); i == 1 || gap < r.Shortest {
				r.Shortest = gap
			}
		}
	}
	if r.Jobs = len(seen); len(arrivals) > 1 {
		r.Took = arrivals[len(arrivals)-1].At.Sub(arrivals[0].At)
	}
	return r
}

// String is the report in one line.
func (r Report) String() string {
	return fmt.Sprintf("%d arrivals of %d jobs in %v; busiest second %d, shortest gap %v; %d jobs more than once, %d signatures not valid",
		r.Arrivals, r.Jobs, r.Took.Round(time.Millisecond), r.Busiest, r.Shortest.Round(10*time.Microsecond), len(r.Duplicates), r.Forged)
}

// Busiest is the most arrivals within any window, its start included and its end not.
// Arrivals are in the order of their times.
func Busiest(arrivals []Arrival, window time.Duration) (most int) {
	first := 0
	for i, a := range arrivals {
		for a.At.Sub(arrivals[first].At) >= window {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// Used is which part of the pace, in arrivals a second, was used from the first arrival to
// the last: 1 is all of it.
func Used(arrivals []Arrival, pace float64) float64 {
	if len(arrivals) < 2 {
		return 0
	}
	took := arrivals[len(arrivals)-1].At.Sub(arrivals[0].At).Seconds()
	return float64(len(arrivals)-1) / took / pace
}
