package limit_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/limit"
)

// timeline is a hand-worked history of testdata/limits.json.
type timeline struct {
	Name       string
	Limit      int64
	WindowMS   int64 `json:"window_ms"`
	Capacity   int64
	RefillPerS int64 `json:"refill_per_s"`
	LeakPerS   int64 `json:"leak_per_s"`
	EmissionMS int64 `json:"emission_interval_ms"`
	Tolerance  int64 `json:"tolerance_ms"`
	Previous   int64
	Current    int64
	Cost       int64
	Steps      [][]any
}

func (v timeline) rule(a limit.Algorithm) limit.Rule {
	r := limit.Rule{Name: "v", Algorithm: a, MaxCost: max(1, v.Cost)}
	switch a {
	case limit.TokenBucket, limit.LeakyMeter:
		r.Burst, r.Rate = v.Capacity, limit.Rate{Count: v.RefillPerS + v.LeakPerS, Per: time.Second}
	case limit.GCRA:
		r.Burst = v.Tolerance / v.EmissionMS
		r.Rate = limit.Rate{Count: 1, Per: time.Duration(v.EmissionMS) * time.Millisecond}
	default:
		r.Burst, r.Rate = v.Limit, limit.Rate{Count: v.Limit, Per: time.Duration(v.WindowMS) * time.Millisecond}
	}
	return r
}

func TestVectors(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/limits.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, b *bench) {
		for _, a := range limit.Algorithms() {
			var lines []timeline
			if err := json.Unmarshal(all[string(a)], &lines); err != nil || len(lines) == 0 {
				t.Fatalf("limits.json has %d timelines of %s: %v", len(lines), a, err)
			}
			for _, v := range lines {
				play(t, b, a, v)
			}
		}
	})
}

func play(t *testing.T, b *bench, a limit.Algorithm, v timeline) {
	t.Helper()
	l := limiter(t, b.store, v.rule(a))
	key := name(t)
	if v.Previous > 0 {
		// The line starts from counts that its own limit would not all have allowed, so a
		// wider rule of the same name makes them: a changed limit goes on with what was used.
		wide := v
		wide.Limit = 1000
		r := wide.rule(a)
		r.MaxCost = r.Burst
		w, begin := limiter(t, b.store, r), int64(v.Steps[0][0].(float64))/v.WindowMS*v.WindowMS
		b.set(begin - v.WindowMS)
		allow(t, w, key, v.Previous)
		b.set(begin)
		allow(t, w, key, v.Current)
	}
	for _, step := range v.Steps {
		at, calls, want, note := int64(step[0].(float64)), int64(step[1].(float64)), int64(step[2].(float64)), step[3].(string)
		b.set(at)
		var got int64
		var last limit.Decision
		for range calls {
			if last = allow(t, l, key, max(1, v.Cost)); last.Allowed {
				got++
			}
		}
		if got != want {
			t.Errorf("%s, %s: at %d ms %d of %d allowed, want %d (%s)", a, v.Name, at, got, calls, want, note)
		}
		checkNote(t, string(a)+", "+v.Name, note, last)
	}
}

// checkNote holds a decision to the numbers that a step's note gives.
func checkNote(t *testing.T, line, note string, d limit.Decision) {
	t.Helper()
	for part, want := range map[string]limit.Decision{
		"retry after 900 ms":  {RetryAfter: 900 * time.Millisecond},
		"retry after 100 ms":  {RetryAfter: 100 * time.Millisecond},
		"second waits 20 s":   {RetryAfter: 20 * time.Second},
		"TAT 11000, TTL 1000": {Remaining: 4, ResetAfter: time.Second},
		"TAT 16000, TTL 4000": {Remaining: 1, ResetAfter: 4 * time.Second},
		"TAT 17000, TTL 4900": {Remaining: 0, ResetAfter: 4900 * time.Millisecond},
		"18000-12100 > 5000":  {RetryAfter: 900 * time.Millisecond, ResetAfter: 4900 * time.Millisecond},
		"9 left":              {Remaining: 9},
		"0 whole tokens left": {Remaining: 0},
		"level 5, then 6":     {Remaining: 4},
		"exactly one token":   {Remaining: 0},
	} {
		if !strings.Contains(note, part) {
			continue
		}
		if want.RetryAfter != d.RetryAfter || want.ResetAfter > 0 && want.ResetAfter != d.ResetAfter ||
			want.RetryAfter == 0 && want.Remaining != d.Remaining {
			t.Errorf("%s: %q is answered by %+v", line, note, d)
		}
	}
}
