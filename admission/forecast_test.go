package admission_test

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"
	"time"

	"github.com/anteroom/anteroom/admission"
)

func TestPredict_KnownLines(t *testing.T) {
	t.Parallel()
	minute := time.Minute
	for name, c := range map[string]struct {
		load   admission.Load
		limits admission.Limits
		median time.Duration
		by     admission.Bottleneck
	}{
		"nobody waits":            {admission.Load{Stay: minute}, admission.Limits{Capacity: 10, Interval: time.Second}, 0, admission.ByCapacity},
		"the pace holds":          {admission.Load{Waiting: 600, Active: 0, Stay: minute}, admission.Limits{Capacity: 10_000, Interval: 100 * time.Millisecond}, 30 * time.Second, admission.ByPace},
		"a full room":             {admission.Load{Waiting: 600, Active: 100, Stay: minute}, admission.Limits{Capacity: 100, Interval: time.Millisecond}, 3 * minute, admission.ByCapacity},
		"capacity is halved":      {admission.Load{Waiting: 100, Active: 100, Stay: minute}, admission.Limits{Capacity: 50, Interval: time.Millisecond}, 0, admission.ByCapacity},
		"no stay known":           {admission.Load{Waiting: 100}, admission.Limits{Capacity: 1, Interval: time.Second}, 50 * time.Second, admission.ByPace},
		"longer than a day":       {admission.Load{Waiting: 1_000_000, Active: 1, Stay: time.Hour}, admission.Limits{Capacity: 1, Interval: time.Second}, 24 * time.Hour, admission.ByCapacity},
		"many free slots at once": {admission.Load{Waiting: 1000, Active: 100, Stay: 10 * minute}, admission.Limits{Capacity: 2000, Interval: 10 * time.Millisecond}, 5 * time.Second, admission.ByCapacity},
	} {
		f := admission.Predict(c.load, c.limits)
		if name == "capacity is halved" { // 50 have to go first: ln 2 minutes, then 50 at 50 a minute
			c.median = seconds(60 * (math.Ln2 + 1))
		}
		if diff := (f.Median - c.median).Abs(); diff > c.median/20+20*time.Millisecond || f.Bottleneck != c.by {
			t.Errorf("%s: %+v, want a median of %v by %s", name, f, c.median, c.by)
		}
		if f.Last < f.Median {
			t.Errorf("%s: the last gets in before the middle one: %+v", name, f)
		}
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// TestPredict_AgreesWithChance plays lines of single people with random stays.
func TestPredict_AgreesWithChance(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		limits := admission.Limits{Capacity: 20 + rng.IntN(300), Interval: time.Duration(1+rng.IntN(200)) * time.Millisecond}
		load := admission.Load{Waiting: int64(200 + rng.IntN(2000)), Stay: time.Duration(2+rng.IntN(60)) * time.Second}
		load.Active = int64(rng.IntN(limits.Capacity + 1))
		got, want := admission.Predict(load, limits).Median.Seconds(), 0.0
		for range 20 {
			want += playMedian(rng, load, limits) / 20
		}
		if math.Abs(got-want) > 0.05*want+0.5 {
			t.Errorf("%+v %+v: predicted %.1f s, played %.1f s", load, limits, got, want)
		}
	}
}

// playMedian is the median wait of single people, in seconds.
func playMedian(rng *rand.Rand, l admission.Load, limits admission.Limits) float64 {
	var ends []float64
	for range l.Active {
		ends = append(ends, rng.ExpFloat64()*l.Stay.Seconds())
	}
	sort.Float64s(ends)
	var waits []float64
	now := 0.0
	for range l.Waiting {
		now += limits.Interval.Seconds()
		if len(ends) >= limits.Capacity {
			now = max(now, ends[0])
		}
		for len(ends) > 0 && ends[0] <= now {
			ends = ends[1:]
		}
		waits = append(waits, now)
		end := now + rng.ExpFloat64()*l.Stay.Seconds()
		i := sort.SearchFloat64s(ends, end)
		ends = append(ends, 0)
		copy(ends[i+1:], ends[i:])
		ends[i] = end
	}
	return waits[len(waits)/2]
}

func TestAdvise_FormulaAndWarning(t *testing.T) {
	t.Parallel()
	limits := admission.Limits{Capacity: 100, Interval: time.Millisecond}
	// 100 slots of 50 s serve 2 a second.
	a, ok := admission.Advise(admission.Load{Stay: 50 * time.Second, Arrivals: 1}, limits)
	if !ok || a.PerSecond != 2 || a.Utilisation != 0.5 || a.Wait != 500*time.Millisecond || a.Inside != 50 || a.Enough != 63 || a.Tight {
		t.Errorf("%+v, %v", a, ok)
	}
	if a, _ = admission.Advise(admission.Load{Stay: 50 * time.Second, Arrivals: 1.7}, limits); !a.Tight || a.Wait == 0 {
		t.Errorf("ρ = 0.85: %+v", a)
	}
	if a, _ = admission.Advise(admission.Load{Stay: 50 * time.Second, Arrivals: 3}, limits); !a.Tight || a.Wait != 0 || a.Enough != 188 {
		t.Errorf("ρ = 1.5: %+v", a)
	}
	limits.Interval = time.Second
	if a, _ = admission.Advise(admission.Load{Stay: 50 * time.Second, Arrivals: 0.9}, limits); a.PerSecond != 1 || a.Utilisation != 0.9 {
		t.Errorf("the pace holds: %+v", a)
	}
	if _, ok := admission.Advise(admission.Load{Arrivals: 1}, limits); ok {
		t.Error("no stay is known, and there is advice")
	}
}

func TestStay_IsLittlesLaw(t *testing.T) {
	t.Parallel()
	if s, ok := admission.Stay(120, time.Minute, 60); !ok || s != 2*time.Minute {
		t.Errorf("%v, %v", s, ok)
	}
	if _, ok := admission.Stay(120, time.Minute, 0); ok {
		t.Error("nobody went, and there is a stay")
	}
}
