package leaky_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/anteroom/anteroom/leaky"
	"github.com/anteroom/anteroom/leaky/deliver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a breaker with a clock of its own.
type rig struct {
	*leaky.Breaker
	now time.Time
}

func newRig(cfg leaky.BreakerConfig) *rig {
	r := &rig{now: start}
	cfg.Now = func() time.Time { return r.now }
	r.Breaker = leaky.NewBreaker(cfg)
	return r
}

// grab acquires all that it gets.
func (r *rig) grab() []*leaky.Permit {
	var all []*leaky.Permit
	for {
		permit, _ := r.Acquire()
		if permit == nil {
			return all
		}
		all = append(all, permit)
	}
}

// round acquires all that it gets, reports v for each, and says how many there were.
func (r *rig) round(v leaky.Verdict, pause time.Duration) int {
	all := r.grab()
	for _, permit := range all {
		r.Report(permit, v, pause, "said so")
	}
	return len(all)
}

func (r *rig) want(t *testing.T, state leaky.BreakerState, wait time.Duration) {
	t.Helper()
	s := r.Status()
	if s.State != state || (state == leaky.Open && s.Until.Sub(r.now) != wait) {
		t.Fatalf("breaker is %+v, want %s for %v", s, state, wait)
	}
}

func TestBreaker_OpensOnFailuresInARowAndTwiceAsLongEachTime(t *testing.T) {
	t.Parallel()
	r := newRig(leaky.BreakerConfig{Concurrency: 1, Failures: 3, OpenMin: time.Second, OpenMax: 5 * time.Second})
	for _, v := range []leaky.Verdict{leaky.Unhealthy, leaky.Unhealthy, leaky.Healthy, leaky.Unhealthy, leaky.Neutral, leaky.Unhealthy} {
		p, _ := r.Acquire()
		r.Report(p, v, 0, "")
	}
	r.want(t, leaky.Closed, 0)
	p, _ := r.Acquire()
	r.Report(p, leaky.Unhealthy, 0, "said so")
	for _, wait := range []time.Duration{1, 2, 4, 5, 5} {
		r.want(t, leaky.Open, wait*time.Second)
		r.now = r.now.Add(wait*time.Second - 1)
		if n := len(r.grab()); n != 0 {
			t.Fatalf("%d attempts got through before the time", n)
		}
		r.now = r.now.Add(1)
		if n := r.round(leaky.Unhealthy, 0); n != 1 {
			t.Fatalf("%d probes, want 1", n)
		}
	}
	r.now = r.now.Add(5 * time.Second)
	p, _ = r.Acquire()
	r.Report(p, leaky.Healthy, 0, "")
	r.want(t, leaky.Closed, 0)
	if s := r.Status(); s.Reason != "" {
		t.Errorf("closed for the reason %q", s.Reason)
	}
}

func TestBreaker_OpensWhenHalfOfTheLastFail(t *testing.T) {
	t.Parallel()
	r := newRig(leaky.BreakerConfig{Concurrency: 1, Failures: 100, Window: 10})
	for i := range 10 {
		r.want(t, leaky.Closed, 0)
		p, _ := r.Acquire()
		r.Report(p, []leaky.Verdict{leaky.Healthy, leaky.Unhealthy}[i%2], 0, "")
	}
	r.want(t, leaky.Open, time.Second)
}

func TestBreaker_SlowStart(t *testing.T) {
	t.Parallel()
	r := newRig(leaky.BreakerConfig{Concurrency: 10})
	r.PauseUntil(r.now.Add(time.Minute), "told")
	r.want(t, leaky.Open, time.Minute)
	r.now = r.now.Add(time.Minute)
	for _, size := range []int{1, 2, 4, 8, 10, 10} {
		if n := r.round(leaky.Healthy, 0); n != size {
			t.Fatalf("%d attempts at once, want %d", n, size)
		}
	}
	r.want(t, leaky.Closed, 0)
}

// A pause is no failure: after one the counts stand where they stood, and it is as long as
// the destination says, not longer each time.
func TestBreaker_PausesCountNeitherWay(t *testing.T) {
	t.Parallel()
	r := newRig(leaky.BreakerConfig{Concurrency: 4, Failures: 2})
	for range 5 {
		r.round(leaky.Throttled, 7*time.Second)
		r.want(t, leaky.Open, 7*time.Second)
		r.now = r.now.Add(7 * time.Second)
	}
	r.round(leaky.Unhealthy, 0)
	r.want(t, leaky.Open, time.Second) // the first opening by failure
}

// "Now" is believed once, then a second lies between.
func TestBreaker_PausesOfNoLengthDoNotSpin(t *testing.T) {
	t.Parallel()
	r := newRig(leaky.BreakerConfig{Concurrency: 4})
	if n := r.round(leaky.Throttled, 0); n != 4 {
		t.Fatalf("%d attempts", n)
	}
	r.want(t, leaky.HalfOpen, 0)
	r.round(leaky.Throttled, 0)
	r.want(t, leaky.Open, time.Second)
	r.now = r.now.Add(time.Second)
	p, _ := r.Acquire()
	r.Report(p, leaky.Healthy, 0, "")
	p, _ = r.Acquire()
	r.Report(p, leaky.Throttled, 0, "")
	r.want(t, leaky.HalfOpen, 0)
}

// What began before the breaker opened proves nothing about the time after, but holds its
// place, and a pause asked for late is obeyed all the same.
func TestBreaker_LateReports(t *testing.T) {
	t.Parallel()
	r := newRig(leaky.BreakerConfig{Concurrency: 3, Failures: 1})
	old := r.grab()
	r.Report(old[0], leaky.Unhealthy, 0, "")
	if r.StillGood(old[1]) {
		t.Error("a permit of before is still good")
	}
	r.now = r.now.Add(time.Second)
	probe, _ := r.Acquire()
	if p, _ := r.Acquire(); probe == nil || p != nil || r.Status().InFlight != 3 || !r.StillGood(probe) {
		t.Fatalf("no single probe: %+v", r.Status())
	}
	r.Report(old[1], leaky.Healthy, 0, "")
	r.Report(old[1], leaky.Healthy, 0, "")
	if p, _ := r.Acquire(); p != nil || r.Status().InFlight != 2 {
		t.Fatalf("a late success let one more through: %+v", r.Status())
	}
	r.Report(old[2], leaky.Throttled, time.Minute, "")
	r.want(t, leaky.Open, time.Minute)
	r.Report(probe, leaky.Throttled, time.Second, "")
	r.want(t, leaky.Open, time.Minute)
}

func TestBreaker_GoneUntilEnabled(t *testing.T) {
	t.Parallel()
	r := newRig(leaky.BreakerConfig{Concurrency: 4})
	all := r.grab()
	r.Report(all[0], leaky.Gone, 0, "410 Gone")
	r.Report(all[1], leaky.Throttled, time.Second, "later")
	r.Report(all[2], leaky.Healthy, 0, "")
	r.now = r.now.Add(1000 * time.Hour)
	if permit, until := r.Acquire(); permit != nil || !until.IsZero() {
		t.Fatal("an attempt got through")
	}
	if s := r.Status(); s.State != leaky.Disabled || s.Reason != "410 Gone" || s.Limit != 0 {
		t.Fatalf("breaker is %+v", s)
	}
	r.Enable()
	if n := len(r.grab()); n != 1 {
		t.Fatalf("%d attempts after Enable, want 1", n)
	}
}

func TestBreaker_Wait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := leaky.NewBreaker(leaky.BreakerConfig{Concurrency: 1})
		began := time.Now()
		b.PauseUntil(began.Add(time.Minute), "told")
		first, err := b.Wait(t.Context())
		if err != nil || time.Since(began) != time.Minute {
			t.Fatalf("waited %v: %v", time.Since(began), err)
		}
		go func() {
			time.Sleep(time.Second)
			b.Report(first, leaky.Healthy, 0, "")
		}()
		if _, err := b.Wait(t.Context()); err != nil || time.Since(began) != time.Minute+time.Second {
			t.Fatalf("waited %v: %v", time.Since(began), err)
		}
		enough := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Hour, enough)
		defer cancel()
		if permit, err := b.Wait(ctx); permit != nil || !errors.Is(err, enough) {
			t.Fatalf("error is %v", err)
		}
	})
}

// Random histories: never more attempts than there are places, none within a pause, one
// probe after it, and it always heals.
func TestBreaker_Histories(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.IntRange(1, 9).Draw(t, "concurrency")
		r := newRig(leaky.BreakerConfig{Concurrency: places, Failures: 3, Window: 6})
		var out []*leaky.Permit
		var paused time.Time
		give := func(v leaky.Verdict, pause time.Duration) {
			if len(out) == 0 {
				return
			}
			i := rapid.IntRange(0, len(out)-1).Draw(t, "permit")
			if v == leaky.Throttled && r.Status().State != leaky.Disabled && r.now.Add(pause).After(paused) {
				paused = r.now.Add(pause)
			}
			r.Report(out[i], v, pause, "")
			out = append(out[:i], out[i+1:]...)
		}
		seconds := rapid.Map(rapid.IntRange(0, 20), func(n int) time.Duration { return time.Duration(n) * time.Second })
		t.Repeat(map[string]func(*rapid.T){
			"acquire": func(t *rapid.T) {
				before := r.Status()
				permit, until := r.Acquire()
				if permit == nil {
					if !until.IsZero() && !until.After(r.now) {
						t.Fatalf("refused until %v, which has passed", until)
					}
					return
				}
				if before.Limit == 0 || r.now.Before(paused) {
					t.Fatalf("got through at %v, paused until %v, %+v", r.now, paused, before)
				}
				out = append(out, permit)
			},
			"healthy":   func(*rapid.T) { give(leaky.Healthy, 0) },
			"unhealthy": func(*rapid.T) { give(leaky.Unhealthy, 0) },
			"neutral":   func(*rapid.T) { give(leaky.Neutral, 0) },
			"throttled": func(t *rapid.T) { give(leaky.Throttled, seconds.Draw(t, "pause")) },
			"gone":      func(*rapid.T) { give(leaky.Gone, 0) },
			"enable": func(*rapid.T) {
				if r.Status().State == leaky.Disabled {
					paused = time.Time{}
				}
				r.Enable()
			},
			"time": func(t *rapid.T) { r.now = r.now.Add(seconds.Draw(t, "passes")) },
			"": func(t *rapid.T) {
				s, good := r.Status(), 0
				for _, permit := range out {
					if r.StillGood(permit) {
						good++
					}
				}
				if s.InFlight != len(out) || len(out) > places || s.Limit > places || good > max(s.Limit, 0) {
					t.Fatalf("%d attempts run, %d of them good, %d places: %+v", len(out), good, places, s)
				}
			},
		})
		for len(out) > 0 {
			give(leaky.Neutral, 0)
		}
		r.Enable()
		r.now = r.now.Add(time.Hour)
		for range 5 {
			r.round(leaky.Healthy, 0)
		}
		if s := r.Status(); s.State != leaky.Closed || len(r.grab()) != places {
			t.Fatalf("does not heal: %+v", s)
		}
	})
}

func TestVerdictOf(t *testing.T) {
	t.Parallel()
	for want, results := range map[leaky.Verdict][]deliver.Result{
		leaky.Healthy:   {{Outcome: deliver.Delivered, Status: 204}, {Outcome: deliver.Retry, Status: 400}, {Outcome: deliver.Retry, Status: 422}},
		leaky.Unhealthy: {{Outcome: deliver.Retry, Status: 500}, {Outcome: deliver.Retry, Status: 404}, {Outcome: deliver.Retry, Status: 302}, {Outcome: deliver.Retry, Cause: deliver.CauseTLS}},
		leaky.Throttled: {{Outcome: deliver.Pause, Status: 429}, {Outcome: deliver.Pause, Status: 503}},
		leaky.Gone:      {{Outcome: deliver.Disabled, Status: 410}},
		leaky.Neutral:   {{Outcome: deliver.Dead}, {Outcome: deliver.Cancelled}},
	} {
		for _, r := range results {
			if got := leaky.VerdictOf(r); got != want {
				t.Errorf("%+v is %d, want %d", r, got, want)
			}
		}
	}
}
