package leaky_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom/leaky"
)

var start = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)

func TestNext(t *testing.T) {
	t.Parallel()
	p := leaky.Policy{MaxAttempts: 10, Min: time.Second, Max: time.Minute, Deadline: time.Hour}
	tests := []struct {
		name    string
		policy  leaky.Policy
		attempt int
		elapsed time.Duration
		random  float64
		wait    time.Duration
		gave    leaky.GiveUp
	}{
		{"first, lowest draw", p, 1, 0, 0, time.Second, leaky.KeepTrying},
		{"first, middle", p, 1, 0, 0.5, 1500 * time.Millisecond, leaky.KeepTrying},
		{"third, middle", p, 3, 0, 0.5, 4500 * time.Millisecond, leaky.KeepTrying},
		{"capped", p, 9, 0, 0.5, 30500 * time.Millisecond, leaky.KeepTrying},
		{"the last attempt was made", p, 10, 0, 0.5, 0, leaky.GaveAttempts},
		{"more were made than are allowed now", p, 11, 0, 0.5, 0, leaky.GaveAttempts},
		{"drawn within what the deadline leaves", p, 9, time.Hour - 3*time.Second, 0.5, 2 * time.Second, leaky.KeepTrying},
		{"just room for the shortest", p, 9, time.Hour - time.Second, 0.9, time.Second, leaky.KeepTrying},
		{"no room for the shortest", p, 2, time.Hour - time.Second + 1, 0, 0, leaky.GaveDeadline},
		{"attempts come before the deadline", p, 10, 2 * time.Hour, 0, 0, leaky.GaveAttempts},
		{"clock went back", p, 1, -time.Hour, 0, time.Second, leaky.KeepTrying},
		{"no deadline", leaky.Policy{MaxAttempts: 3, Min: 1, Max: 1}, 2, 1000 * time.Hour, 0.5, 1, leaky.KeepTrying},
		{"random is no number", p, 1, 0, math.NaN(), time.Second, leaky.KeepTrying},
		{"random is too large", p, 1, 0, 7, 2 * time.Second, leaky.KeepTrying},
		{"odd maximum", leaky.Policy{MaxAttempts: 9, Min: 1, Max: 3}, 1, 0, 1, 2, leaky.KeepTrying},
		{"longest of all", leaky.Policy{MaxAttempts: 99, Min: 1, Max: math.MaxInt64}, 90, 0, 1, math.MaxInt64, leaky.KeepTrying},
		{"attempt is 0", p, 0, 0, 0.9, time.Second, leaky.KeepTrying},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			now := start.Add(test.elapsed)
			at, gave := leaky.Next(test.policy, test.attempt, start, now, test.random)
			if gave != test.gave {
				t.Fatalf("gave up with %q, want %q", gave, test.gave)
			}
			if gave == leaky.KeepTrying && at.Sub(now) != test.wait {
				t.Fatalf("waits %v, want %v", at.Sub(now), test.wait)
			}
		})
	}
}

func TestNext_StaysWithinItsLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		shortest := rapid.Int64Range(1, math.MaxInt64).Draw(t, "min")
		p := leaky.Policy{
			MaxAttempts: rapid.IntRange(0, 1000).Draw(t, "max_attempts"),
			Min:         time.Duration(shortest),
			Max:         time.Duration(rapid.Int64Range(shortest, math.MaxInt64).Draw(t, "max")),
			Deadline:    time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "deadline")),
		}
		attempt := rapid.IntRange(1, 1_000_000).Draw(t, "attempt")
		now := start.Add(time.Duration(rapid.Int64Range(-1e15, 1e18).Draw(t, "elapsed")))
		at, gave := leaky.Next(p, attempt, start, now, rapid.Float64().Draw(t, "random"))
		if p.MaxAttempts > 0 && (attempt >= p.MaxAttempts) != (gave == leaky.GaveAttempts) {
			t.Fatalf("attempt %d of %d: gave up with %q", attempt, p.MaxAttempts, gave)
		}
		if gave != leaky.KeepTrying {
			return
		}
		if wait := at.Sub(now); wait < p.Min || wait > p.Max {
			t.Fatalf("waits %v, want %v to %v", wait, p.Min, p.Max)
		}
		if p.Expired(start, at) && now.After(start) {
			t.Fatalf("is tried %v after the first, deadline %v", at.Sub(start), p.Deadline)
		}
	})
}

// A larger draw never waits less, and the draws cover the whole range: with a thousand
// jobs failing at once, no second gets much more than its share.
func TestNext_SpreadsJobsThatFailTogether(t *testing.T) {
	t.Parallel()
	p := leaky.Policy{MaxAttempts: 10, Min: time.Second, Max: 11 * time.Second}
	perSecond := map[int]int{}
	last := time.Time{}
	for i := range 1000 {
		at, _ := leaky.Next(p, 9, start, start, float64(i)/1000)
		if at.Before(last) {
			t.Fatalf("draw %d waits less than the one before", i)
		}
		last = at
		perSecond[int(at.Sub(start).Seconds())]++
	}
	for second, n := range perSecond {
		if n > 101 {
			t.Errorf("second %d has %d of 1000 jobs, want about 100", second, n)
		}
	}
	if len(perSecond) != 10 {
		t.Errorf("jobs fall into %d seconds, want 10", len(perSecond))
	}
}

func TestPolicy_Expired(t *testing.T) {
	t.Parallel()
	p := leaky.Policy{MaxAttempts: 3, Min: 1, Max: 1, Deadline: time.Hour}
	for name, test := range map[string]struct {
		first, now time.Time
		want       bool
	}{
		"never tried":     {time.Time{}, start, false},
		"at the deadline": {start, start.Add(time.Hour), false},
		"after it":        {start, start.Add(time.Hour + 1), true},
		"clock went back": {start, start.Add(-2 * time.Hour), false},
	} {
		if got := p.Expired(test.first, test.now); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	p.Deadline = 0
	if p.Expired(start, start.Add(1e6*time.Hour)) {
		t.Error("expires without a deadline")
	}
}

func TestPolicy_Validate_ReportsEverythingAtOnce(t *testing.T) {
	t.Parallel()
	err := leaky.Policy{MaxAttempts: -1, Min: 0, Max: -1, Deadline: -1}.Validate()
	if !errors.Is(err, leaky.ErrPolicy) {
		t.Fatalf("error is %v, want ErrPolicy", err)
	}
	for _, word := range []string{"max_attempts", "min is", "max is", "deadline"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error lacks %q: %v", word, err)
		}
	}
	if err := (leaky.Policy{Min: 1, Max: 1}).Validate(); !errors.Is(err, leaky.ErrPolicy) {
		t.Errorf("a policy without any limit: error is %v", err)
	}
	if err := (leaky.Policy{MaxAttempts: 1, Min: 1, Max: 1}).Validate(); err != nil {
		t.Errorf("a good policy: %v", err)
	}
}
