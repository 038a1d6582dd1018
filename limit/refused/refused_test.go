package refused_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/anteroom/anteroom/limit"
	"github.com/anteroom/anteroom/limit/memory"
	"github.com/anteroom/anteroom/limit/refused"
)

// counted is a store that counts questions, on a clock that both sides of a test share.
type counted struct {
	limit.Store
	asked int
	err   error
}

func (c *counted) All(ctx context.Context, checks []limit.Check) (limit.Decision, error) {
	c.asked++
	if c.err != nil {
		return limit.Decision{}, c.err
	}
	return c.Store.All(ctx, checks)
}

type bench struct {
	now   time.Time
	inner *counted
	store *refused.Store
	rule  *limit.Limit
	all   *limit.Limit
}

func setUp(t testing.TB, denied bool) *bench {
	t.Helper()
	b := &bench{now: time.Unix(1e9, 0)}
	b.inner = &counted{Store: memory.New(memory.WithClock(func() int64 { return b.now.UnixMicro() }))}
	b.store = refused.New(b.inner, 0, func() time.Time { return b.now })
	var err error
	b.rule, err = limit.New(limit.Rule{Name: "r", Algorithm: limit.SlidingLog, Rate: limit.Rate{Count: 2, Per: time.Minute}, Burst: 2, MaxCost: 2, RecordDenied: denied})
	if err == nil {
		b.all, err = limit.New(limit.Rule{Name: "all", Algorithm: limit.GCRA, Rate: limit.Rate{Count: 100, Per: time.Second}, Burst: 100, MaxCost: 2})
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) ask(t testing.TB, key string, cost int64) limit.Decision {
	t.Helper()
	d, err := b.store.All(t.Context(), []limit.Check{{Limit: b.rule, Key: key, Cost: cost}, {Limit: b.all, Key: "global", Cost: cost}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A caller who was refused asks the store once, and passes at the very time it was told.
func TestAll_RefusedUntil(t *testing.T) {
	t.Parallel()
	b := setUp(t, false)
	b.ask(t, "k", 2)
	for i := range 60 {
		want := time.Duration(60-i) * time.Second
		if d := b.ask(t, "k", 1); d.Allowed || d.RetryAfter != want || d.Rule != "r" || d.ResetAfter < d.RetryAfter {
			t.Fatalf("after %d s: %+v, want a refusal by r for %v", i, d, want)
		}
		b.now = b.now.Add(time.Second)
	}
	if b.inner.asked != 2 {
		t.Errorf("the store was asked %d times, want 2", b.inner.asked)
	}
	if d := b.ask(t, "k", 1); !d.Allowed {
		t.Errorf("after the time it was told: %+v", d)
	}
}

func TestAll_OthersAreNotRefused(t *testing.T) {
	t.Parallel()
	b := setUp(t, false)
	b.ask(t, "k", 1)
	if d := b.ask(t, "k", 2); d.Allowed {
		t.Fatalf("cost 2 of 1: %+v", d)
	}
	if d := b.ask(t, "other", 2); !d.Allowed {
		t.Errorf("another key: %+v", d)
	}
	if d := b.ask(t, "k", 1); !d.Allowed {
		t.Errorf("a smaller cost: %+v", d)
	}
}

func TestAll_WhatMustReachTheStore(t *testing.T) {
	t.Parallel()
	b := setUp(t, true)
	b.ask(t, "k", 2)
	for range 5 {
		b.ask(t, "k", 1)
	}
	if b.inner.asked != 6 {
		t.Errorf("a limit that records refusals saw %d calls of 6", b.inner.asked)
	}
	b = setUp(t, false)
	b.ask(t, "k", 2)
	b.ask(t, "k", 1)
	if err := b.store.Reset(t.Context(), b.rule, "k"); err != nil {
		t.Fatal(err)
	}
	if d := b.ask(t, "k", 1); !d.Allowed {
		t.Errorf("after a reset: %+v", d)
	}
	b.inner.err = errors.New("away")
	for range 2 {
		if _, err := b.store.All(t.Context(), []limit.Check{{Limit: b.rule, Key: "x", Cost: 1}}); err == nil {
			t.Error("an error of the store became an answer")
		}
	}
}

func BenchmarkKnown(b *testing.B) {
	s := setUp(b, false)
	s.ask(b, "0123456789012345678901", 2)
	s.ask(b, "0123456789012345678901", 1)
	checks := []limit.Check{{Limit: s.rule, Key: "0123456789012345678901", Cost: 1}, {Limit: s.all, Key: "global", Cost: 1}}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := s.store.Known(checks); !ok {
			b.Fatal("not known")
		}
	}
}
