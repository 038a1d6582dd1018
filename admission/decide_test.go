package admission_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom/admission"
)

var start = time.UnixMilli(1_700_000_000_000)

func limits() admission.Limits {
	return admission.Limits{Capacity: 1000, Interval: 10 * time.Millisecond, Burst: 1, Slack: 100 * time.Millisecond}
}

func TestHowMany(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change          func(*admission.Limits)
		pace            admission.Pace
		active, waiting int
		want            int
	}{
		"one at the steady rate":               {nil, admission.Pace{}, 0, 50, 1},
		"nobody waits":                         {nil, admission.Pace{}, 0, 0, 0},
		"full":                                 {nil, admission.Pace{}, 1000, 50, 0},
		"over full after a lower capacity":     {nil, admission.Pace{}, 1200, 50, 0},
		"the next is due in 1 ms":              {nil, admission.Pace{TAT: start.Add(time.Millisecond)}, 0, 50, 0},
		"a burst of 5 after idle time":         {func(l *admission.Limits) { l.Burst = 5 }, admission.Pace{TAT: start.Add(-time.Hour)}, 0, 50, 5},
		"idle for an hour gives no more":       {nil, admission.Pace{TAT: start.Add(-time.Hour)}, 0, 50, 1},
		"a tick 50 ms late makes up for it":    {nil, admission.Pace{TAT: start.Add(-50 * time.Millisecond), Bound: true}, 0, 50, 6},
		"a worker asleep for an hour does not": {nil, admission.Pace{TAT: start.Add(-time.Hour), Bound: true}, 0, 50, 11},
		"a clock that went back an hour":       {nil, admission.Pace{TAT: start.Add(time.Hour)}, 0, 50, 0},
		"slots are the limit":                  {func(l *admission.Limits) { l.Burst = 50 }, admission.Pace{}, 998, 50, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := limits()
			if c.change != nil {
				c.change(&l)
			}
			if got := admission.HowMany(l, c.pace, c.active, c.waiting, start); got != c.want {
				t.Errorf("HowMany is %d, want %d", got, c.want)
			}
		})
	}
}

// Whatever the ticks, a window admits at most what the rate gives, the burst, and the
// lateness that may be made up for.
func TestPace_NoWindowAdmitsMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := limits()
		l.Burst = rapid.IntRange(1, 5).Draw(t, "burst")
		type admitted struct {
			at time.Time
			n  int
		}
		var history []admitted
		now, p := start, admission.Pace{}
		for range rapid.IntRange(1, 80).Draw(t, "ticks") {
			now = now.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "ms")) * time.Millisecond)
			waiting := rapid.IntRange(0, 60).Draw(t, "waiting")
			n := admission.HowMany(l, p, 0, waiting, now)
			p = p.Take(l, now, n)
			p.Bound = waiting > n && p.Allowed(l, now) == 0
			history = append(history, admitted{now, n})
		}
		for i := range history {
			total := 0
			for j := i; j < len(history); j++ {
				total += history[j].n
				window := history[j].at.Sub(history[i].at)
				if most := int((window+l.Slack)/l.Interval) + l.Burst; total > most {
					t.Fatalf("%d admitted in %v, at most %d", total, window, most)
				}
			}
		}
	})
}

func TestPace_SteadyTicksUseTheWholeRate(t *testing.T) {
	t.Parallel()
	l, p, now, total := limits(), admission.Pace{}, start, 0
	for range 100 {
		n := admission.HowMany(l, p, 0, 1000, now)
		p = p.Take(l, now, n)
		p.Bound = true
		total += n
		now = now.Add(100 * time.Millisecond)
	}
	if total < 990 || total > 1001 {
		t.Errorf("%d admitted in 10 s at 100/s", total)
	}
}

func TestEstimate_IsARange(t *testing.T) {
	t.Parallel()
	l := limits()
	if e := admission.Estimate(99, l, 10*time.Minute, time.Second); e.Low != 80*time.Second || e.High != 126*time.Second {
		t.Errorf("measured at 1/s, 99 ahead: %+v", e)
	}
	if e := admission.Estimate(99, l, 10*time.Minute, 0); e.Low != time.Second || e.High != 61*time.Second {
		t.Errorf("from the rules, 99 ahead: %+v", e)
	}
}
