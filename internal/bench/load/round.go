package load

import (
	"slices"
	"time"
)

// Round is one server under load for a while.
type Round struct {
	Took          time.Duration
	Latencies     []time.Duration // one a request
	Server, Redis time.Duration   // processor time
}

// Rate is requests a second.
func (r Round) Rate() float64 { return float64(len(r.Latencies)) / r.Took.Seconds() }

// ServerMicros is the server's processor time a request, in µs.
func (r Round) ServerMicros() float64 { return r.each(r.Server) }

// RedisMicros is Redis's processor time a request, in µs.
func (r Round) RedisMicros() float64 { return r.each(r.Redis) }

func (r Round) each(d time.Duration) float64 {
	return float64(d.Nanoseconds()) / 1000 / float64(len(r.Latencies))
}

// quantile of the latencies, 0 <= q <= 1.
func (r Round) quantile(q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(r.Latencies))
	return sorted[int(q*float64(len(sorted)-1))]
}

// Millis is a figure of a round: a quantile of its latencies in ms.
func Millis(q float64) func(Round) float64 {
	return func(r Round) float64 { return float64(r.quantile(q).Microseconds()) / 1000 }
}

// Row is one server over all rounds.
type Row struct {
	Name   string
	Rounds []Round
}

// Median of a figure over the rounds.
func (w Row) Median(figure func(Round) float64) float64 {
	values := make([]float64, len(w.Rounds))
	for i, r := range w.Rounds {
		values[i] = figure(r)
	}
	return median(values)
}

// Over is the median of the rates' ratios, each within one round.
func (w Row) Over(base Row) float64 {
	ratios := make([]float64, len(w.Rounds))
	for i, r := range w.Rounds {
		ratios[i] = r.Rate() / base.Rounds[i].Rate()
	}
	return median(ratios)
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
