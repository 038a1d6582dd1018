package limit_test

import (
	"crypto/rand"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/limit"
	"github.com/anteroom/anteroom/limit/memory"
	"github.com/anteroom/anteroom/limit/redislimit"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// bench is one store under a clock that the test moves.
type bench struct {
	store limit.Store
	rdb   *redis.Client // nil in memory
	now   atomic.Int64  // µs
}

func (b *bench) set(ms int64) { b.now.Store(ms * 1000) }

// start is a time as Redis would tell it, at no window's edge.
const start = 1_764_571_867_123_456

// each runs a test on every store: real Redis, miniredis, memory.
func each(t *testing.T, test func(t *testing.T, b *bench)) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) { test(t, onRedis(rdb)) })
	t.Run("memory", func(t *testing.T) { t.Parallel(); test(t, inMemory()) })
}

func onRedis(rdb *redis.Client) *bench {
	b := &bench{rdb: rdb}
	b.now.Store(start)
	b.store = redislimit.New(rdb, redislimit.WithClock(b.now.Load))
	return b
}

func inMemory() *bench {
	b := &bench{}
	b.now.Store(start)
	b.store = memory.New(memory.WithClock(b.now.Load))
	return b
}

// rule is n calls in per, all of them at once if need be.
func rule(a limit.Algorithm, n int64, per time.Duration) limit.Rule {
	return limit.Rule{Name: "r", Algorithm: a, Rate: limit.Rate{Count: n, Per: per}, Burst: n, MaxCost: n}
}

func limiter(t testing.TB, store limit.Store, r limit.Rule) limit.Limiter {
	t.Helper()
	return sound(t, r).On(store)
}

func sound(t testing.TB, r limit.Rule) *limit.Limit {
	t.Helper()
	l, err := limit.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func allow(t testing.TB, l limit.Limiter, key string, cost int64) limit.Decision {
	t.Helper()
	d, err := l.Allow(t.Context(), key, cost)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// name is a key that no other test has.
func name(testing.TB) string { return rand.Text() }
