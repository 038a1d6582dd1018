package limit_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/limit"
)

// lot is a random timeline: calls of random costs at random times under rules that
// change now and then, on a clock that is set now and then.
type lot struct {
	rng   *rand.Rand
	a     limit.Algorithm
	rule  limit.Rule
	now   int64
	limit *limit.Limit
}

func newLot(t *testing.T, a limit.Algorithm, seed uint64) *lot {
	l := &lot{rng: rand.New(rand.NewPCG(seed, 7)), a: a, now: start}
	if l.rng.IntN(2) == 0 {
		l.now -= start % 100_000_000 // round times are printed differently
	}
	l.change(t)
	return l
}

// change draws a rule. Rates that do not divide evenly are as likely as those that do.
func (l *lot) change(t *testing.T) {
	// Long, because Redis expires keys by its own clock, which runs on while this one stands.
	const day = 24 * time.Hour
	pers := []time.Duration{day, 7 * day, 30 * day, 49*time.Hour + 7*time.Second, 100*time.Hour + 13*time.Microsecond}
	n := 1 + l.rng.Int64N(12)
	if l.rng.IntN(4) == 0 {
		n = 1 + l.rng.Int64N(300)
	}
	l.rule = rule(l.a, n, pers[l.rng.IntN(len(pers))])
	if l.a == limit.TokenBucket || l.a == limit.LeakyMeter || l.a == limit.GCRA {
		l.rule.Burst = 1 + l.rng.Int64N(12)
	}
	l.rule.MaxCost = l.rule.Burst
	l.rule.RecordDenied = l.a == limit.SlidingLog && l.rng.IntN(3) == 0
	l.limit = sound(t, l.rule)
}

// step moves the clock, sometimes the rule, and draws a cost.
func (l *lot) step(t *testing.T) (cost int64) {
	recovery := l.limit.Recovery().Microseconds()
	switch l.rng.IntN(24) {
	case 0:
		l.now -= 2 * 24 * 3600 * 1e6
	case 1:
		l.now += 2 * 24 * 3600 * 1e6
	case 2:
		l.now -= l.rng.Int64N(2*recovery + 1)
	case 3:
		l.now += recovery
	case 4:
		l.change(t)
	case 5, 6, 7, 8, 9, 10: // the same instant
	default:
		l.now += l.rng.Int64N(recovery/l.rule.Burst*2 + 2)
	}
	if l.rng.IntN(3) > 0 {
		return 1
	}
	return 1 + l.rng.Int64N(l.rule.MaxCost)
}

// TestConformance: whatever happens, Redis and memory say the same in every field.
func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		lots := 10_000
		if testing.Short() {
			lots = 500
		}
		conform(t, onRedis(redistest.Real(t)), lots)
	})
	t.Run("embedded", func(t *testing.T) { t.Parallel(); conform(t, onRedis(redistest.Embedded(t)), 200) })
}

func conform(t *testing.T, proto *bench, lots int) {
	for _, a := range limit.Algorithms() {
		t.Run(string(a), func(t *testing.T) {
			t.Parallel()
			const workers = 4 // round trips overlap
			var wg sync.WaitGroup
			for w := range workers {
				wg.Go(func() {
					there, here := onRedis(proto.rdb), inMemory()
					for seed := w; seed < lots && !t.Failed(); seed += workers {
						same(t, there, here, a, uint64(seed))
					}
				})
			}
			wg.Wait()
		})
	}
}

func same(t *testing.T, there, here *bench, a limit.Algorithm, seed uint64) {
	l, key := newLot(t, a, seed), name(t)
	var history []string
	for range 14 {
		cost := l.step(t)
		there.now.Store(l.now)
		here.now.Store(l.now)
		r, errR := l.limit.On(there.store).Allow(t.Context(), key, cost)
		m, errM := l.limit.On(here.store).Allow(t.Context(), key, cost)
		history = append(history, fmt.Sprintf("at %d cost %d of %d per %v burst %d record %v: %+v", l.now, cost, l.rule.Rate.Count, l.rule.Rate.Per, l.rule.Burst, l.rule.RecordDenied, m))
		if l.rng.IntN(8) == 0 && r == m {
			r, errR = l.limit.On(there.store).Peek(t.Context(), key)
			m, errM = l.limit.On(here.store).Peek(t.Context(), key)
		}
		if r != m || errR != nil || errM != nil {
			for _, h := range history {
				t.Log(h)
			}
			t.Errorf("seed %d: Redis says\n%+v (%v), memory says\n%+v (%v)", seed, r, errR, m, errM)
			return
		}
		checkSane(t, seed, l, m)
		if m.ResetAfter < 2*time.Second { // Redis may have forgotten it by the next step
			_ = l.limit.On(there.store).Reset(t.Context(), key)
			_ = l.limit.On(here.store).Reset(t.Context(), key)
		}
	}
}

// checkSane holds what is true of every decision.
func checkSane(t *testing.T, seed uint64, l *lot, d limit.Decision) {
	t.Helper()
	if d.Allowed != (d.RetryAfter == 0) || d.RetryAfter < 0 || d.ResetAfter < 0 ||
		d.Remaining < 0 || d.Remaining > d.Limit || d.Limit != l.rule.Burst || d.Rule != l.rule.Name {
		t.Errorf("seed %d: %+v of %+v", seed, d, l.rule)
	}
	if most := 2 * l.limit.Recovery(); d.RetryAfter > most || d.ResetAfter > most {
		t.Errorf("seed %d: %+v is above two recoveries of %+v", seed, d, l.rule)
	}
}
