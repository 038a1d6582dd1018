package queue

import (
	"context"
	"math"
	"time"
)

// Sampled is how many of a line Measure looks at to tell how many are away.
const Sampled = 200

// waitBounds are the upper ends of the buckets in which waits are counted, in seconds; the
// last bucket has none. A quantile is off by less than a quarter of itself above a second.
var waitBounds = []any{
	1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 27, 33, 40, 50, 60, 75, 90, 110, 135, 165, 200, 240, 300,
	360, 450, 540, 660, 810, 990, 1200, 1500, 1800, 2250, 2700, 3300, 4050, 5000, 6100, 7500, 9000, 11000, 14400,
}

// WaitBuckets is how many buckets of waits there are.
const WaitBuckets = 45

// Waits count people by how long they had waited when they were let in, bucket by bucket.
// They only grow; the difference of two is what happened between them.
type Waits [WaitBuckets]int64

// Since is what came after an earlier count; all of it when the count began anew.
func (w Waits) Since(earlier Waits) Waits {
	out := w
	for i := range w {
		if out[i] -= earlier[i]; out[i] < 0 {
			return w
		}
	}
	return out
}

// Count is how many people there are in all buckets.
func (w Waits) Count() (n int64) {
	for _, v := range w {
		n += v
	}
	return n
}

// Quantile is the wait that a share q of the people did not exceed, evenly spread within its
// bucket; false when there is nobody. Waits above four hours count as four hours.
func (w Waits) Quantile(q float64) (time.Duration, bool) {
	total := w.Count()
	if total == 0 {
		return 0, false
	}
	rank := q * float64(total)
	for i, n := range w {
		if rank <= float64(n) && n > 0 {
			low, high := bucket(i)
			return time.Duration((low + (high-low)*max(0, rank)/float64(n)) * float64(time.Second)), true
		}
		rank -= float64(n)
	}
	_, high := bucket(WaitBuckets - 1)
	return time.Duration(high) * time.Second, true
}

func bucket(i int) (low, high float64) {
	bound := func(i int) float64 { return float64(waitBounds[min(max(i, 0), len(waitBounds)-1)].(int)) }
	if i > 0 {
		low = bound(i - 1)
	}
	return low, bound(i)
}

// Measurement is what the dashboard shows of a line beside its Status.
type Measurement struct {
	// Sampled of the people in line were looked at; Away of them are passed over now and
	// keep their place, Gone have lost it.
	Sampled, Away, Gone int64
	Waits               Waits
}

// Measure looks at a sample of a room's line and reads its waits.
func (l *Line) Measure(ctx context.Context, room Room) (Measurement, error) {
	v, err := l.call(ctx, "measure", measureScript, room, Sampled, WaitBuckets)
	if err != nil {
		return Measurement{}, err
	}
	m := Measurement{Sampled: v[0], Away: v[1], Gone: v[2]}
	copy(m.Waits[:], v[3:])
	return m, nil
}

// Silent estimates how many of waiting people are away or gone, and by how much that may be
// wrong, with 95 % confidence (Wilson's interval). A line that was looked at whole is exact.
func (m Measurement) Silent(waiting int64) (estimate, errs int64) {
	n, k := float64(m.Sampled), float64(m.Away+m.Gone)
	if n == 0 {
		return 0, waiting
	}
	if m.Sampled >= waiting {
		return int64(k), 0
	}
	const z = 1.96
	p := k / n
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	// A sample without repeats of a small line says more.
	half *= math.Sqrt(max(0, float64(waiting)-n) / max(1, float64(waiting)-1))
	return int64(math.Round(p * float64(waiting))), int64(math.Ceil(half * float64(waiting)))
}
