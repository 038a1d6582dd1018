package rehearse

import (
	"math"
	"slices"
	"strings"
	"time"
)

// quantile is the q-th quantile of sorted times by the nearest-rank method; 0 of none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[min(len(sorted), max(1, rank))-1]
}

// spread is a distribution in seconds.
type spread struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// spreadOf sorts times and sums them up.
func spreadOf(times []time.Duration) spread {
	slices.Sort(times)
	at := func(q float64) float64 { return seconds(quantile(times, q)) }
	return spread{at(0.5), at(0.95), at(0.99), at(1)}
}

// seconds rounds to a millisecond.
func seconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond).Milliseconds()) / 1000
}

// squeeze shortens a series to at most width columns, each the greatest of as many values,
// and returns how many values a column stands for.
func squeeze(series []int, width int) (columns []int, each int) {
	each = max(1, (len(series)+width-1)/width)
	for part := range slices.Chunk(series, each) {
		columns = append(columns, slices.Max(part))
	}
	return columns, each
}

var bars = []rune(" ▁▂▃▄▅▆▇█")

// sparkline draws values from 0 to top as one bar each: empty only for 0, full only from
// top on.
func sparkline(values []int, top int) string {
	var b strings.Builder
	full := len(bars) - 1
	for _, v := range values {
		level := full
		if v < top {
			level = min(full-1, (v*(full-1)+top-1)/max(1, top))
		}
		if v <= 0 {
			level = 0
		}
		b.WriteRune(bars[level])
	}
	return b.String()
}
