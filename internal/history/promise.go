package history

import "time"

// Promise compares what newcomers were told with how long they then waited.
type Promise struct {
	At        time.Time // when they joined
	Low, High time.Duration
	Waited    time.Duration // the median of those who joined about then and got in
}

// Kept tells whether the wait lay in the range that was promised.
func (p Promise) Kept() bool { return p.Waited >= p.Low && p.Waited <= p.High }

// Promises pairs the points with what became of the people who joined then. Who gets in at a
// point had waited that span's median, and so joined that long before it; what was promised
// then stands in the point of that time. Points must be of one span, oldest first.
func Promises(points []Point) []Promise {
	var out []Promise
	for i := 1; i < len(points); i++ {
		flow, ok := Between(points[i-1], points[i])
		if !ok {
			continue
		}
		waited, ok := flow.Waits.Quantile(0.5)
		if !ok {
			continue
		}
		joined, ok := near(points[:i+1], points[i].At.Add(-waited))
		if !ok || joined.Promised.High == 0 {
			continue
		}
		out = append(out, Promise{joined.At, joined.Promised.Low, joined.Promised.High, waited})
	}
	return out
}

// near is the last point at or before a moment; false when the moment is before all.
func near(points []Point, at time.Time) (Point, bool) {
	for i := len(points) - 1; i >= 0; i-- {
		if !points[i].At.After(at) {
			return points[i], true
		}
	}
	return Point{}, false
}
