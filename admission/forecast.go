package admission

import (
	"math"
	"time"
)

// Load is a room as it was measured over some minutes.
type Load struct {
	// Waiting are the people in line who are there; whoever is away takes no turn.
	Waiting int64
	Active  int64 // people inside
	// Stay is how long one admission takes a slot, on average: see Stay.
	Stay time.Duration
	// Arrivals are people a second who join.
	Arrivals float64
}

// Stay is the mean time for which an admission takes a slot, by Little's law: people inside
// on average, times the time, by the number who went. Unclaimed turns count with the time
// that they were kept. False when nobody went, for then nothing can be told.
func Stay(meanInside float64, took time.Duration, went int64) (time.Duration, bool) {
	if went <= 0 || meanInside <= 0 || took <= 0 {
		return 0, false
	}
	return time.Duration(meanInside * float64(took) / float64(went)), true
}

// Bottleneck is what holds a line back.
type Bottleneck string

// What holds a line back.
const (
	ByPace     Bottleneck = "pace"
	ByCapacity Bottleneck = "capacity"
)

// Forecast is what becomes of those who wait now, when nobody changes anything any more.
type Forecast struct {
	// Median and Last are when the middle one and the last one of them get in, from now;
	// both 0 when nobody waits. Beyond a day they are a day.
	Median, Last time.Duration
	// PerSecond is how many get in a second once the start is over.
	PerSecond  float64
	Bottleneck Bottleneck
}

// horizon bounds a forecast.
const horizon = 24 * time.Hour

// Predict plays the line forward: people go at random, each after Stay on average, and as
// many come in as slots and pace allow. It is a mean: no chance is in it.
func Predict(l Load, limits Limits) Forecast {
	pace := 1 / max(limits.Interval, time.Microsecond).Seconds()
	slots := pace
	if l.Stay > 0 {
		slots = float64(limits.Capacity) / l.Stay.Seconds()
	}
	f := Forecast{PerSecond: min(pace, slots), Bottleneck: ByPace}
	if slots < pace {
		f.Bottleneck = ByCapacity
	}
	waiting := float64(l.Waiting)
	if waiting <= 0 {
		return f
	}
	step := stepFor(min(waiting/f.PerSecond, horizon.Seconds()), l.Stay)
	inside, in := float64(l.Active), 0.0
	for now := 0.0; in < waiting; {
		inside -= leave(inside, step, l.Stay)
		enter := min(pace*step, max(0, float64(limits.Capacity)-inside), waiting-in)
		before := in
		in, inside = in+enter, inside+enter
		if half := waiting / 2; before < half && in >= half && f.Median == 0 {
			f.Median = seconds(now + step*(half-before)/enter)
		}
		now += step
		f.Last = seconds(now)
		if now >= horizon.Seconds() {
			f.Last = horizon
			break
		}
	}
	if f.Median == 0 {
		f.Median = horizon
	}
	return f
}

// stepFor is the step of a forecast, in seconds: small beside the wait and the stay, and not
// so small that a forecast takes long.
func stepFor(wait float64, stay time.Duration) float64 {
	step := wait / 500
	if stay > 0 {
		step = min(step, stay.Seconds()/100)
	}
	return max(step, wait/100_000, 0.001)
}

// leave is how many of inside go within step seconds.
func leave(inside, step float64, stay time.Duration) float64 {
	if stay <= 0 {
		return inside
	}
	return inside * -math.Expm1(-step/stay.Seconds())
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Advice is what queueing theory says of a room's settings, for arrivals at random times.
type Advice struct {
	// PerSecond is μ, what the room can serve at most: the lesser of capacity/stay and pace.
	PerSecond float64
	// Utilisation is ρ = λ/μ, arrivals by what can be served. At 1 and above the line grows
	// without end.
	Utilisation float64
	// Wait is the expected wait ρ/(μ(1−ρ)) of the M/M/1 line; 0 where there is none, since ρ
	// is 1 or more.
	Wait time.Duration
	// Inside is how many would be inside if nobody waited: λ·stay, by Little's law.
	Inside float64
	// Enough is the least capacity that keeps ρ at Comfortable or below, as far as the
	// pace does not stand in the way.
	Enough int
	// Tight says that ρ is above Comfortable: waits grow steeply from there.
	Tight bool
}

// Comfortable is the utilisation above which waits grow steeply.
const Comfortable = 0.8

// Advise computes the advice. Without a measured stay or arrivals there is none.
func Advise(l Load, limits Limits) (Advice, bool) {
	if l.Stay <= 0 || l.Arrivals <= 0 || limits.Capacity <= 0 || limits.Interval <= 0 {
		return Advice{}, false
	}
	mu := min(float64(limits.Capacity)/l.Stay.Seconds(), 1/limits.Interval.Seconds())
	a := Advice{PerSecond: mu, Utilisation: l.Arrivals / mu, Inside: l.Arrivals * l.Stay.Seconds()}
	if a.Utilisation < 1 {
		a.Wait = min(horizon, seconds(a.Utilisation/(mu*(1-a.Utilisation))))
	}
	a.Enough = int(math.Ceil(a.Inside / Comfortable))
	a.Tight = a.Utilisation > Comfortable
	return a, true
}
