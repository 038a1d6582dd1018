package policy_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anteroom/anteroom/limit"
	"github.com/anteroom/anteroom/limit/memory"
	"github.com/anteroom/anteroom/limit/policy"
)

// hanging is a store that answers nothing until the caller gives up.
type hanging struct {
	limit.Store
	asked atomic.Int64
	back  atomic.Bool
}

func (h *hanging) All(ctx context.Context, checks []limit.Check) (limit.Decision, error) {
	h.asked.Add(1)
	if h.back.Load() {
		return h.Store.All(ctx, checks)
	}
	<-ctx.Done()
	return limit.Decision{}, limit.ErrStore
}

func parsed(t *testing.T, text string) *policy.Policy {
	t.Helper()
	all, err := policy.Parse("p", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

func user(policy.Part) string { return "alice" }

// RL-06: a store that hangs costs the first call its short deadline, and the others nothing;
// what then holds is what the policy says.
func TestDecide_RL06_AStoreThatHangs(t *testing.T) {
	t.Parallel()
	for choice, passed := range map[string]int{"fail_open": 50, "fail_closed": 0, "local, share: 0.1": 2} {
		store := &hanging{Store: memory.New()}
		d := policy.NewDecider(store, testKeys(t), 20*time.Millisecond)
		p := parsed(t, "policies: [{name: p, on_store_error: "+choice+", rules: [{name: r, key: [user], algorithm: gcra, rate: 20/1h, burst: 20}]}]")
		got := 0
		for range 50 {
			v, err := d.Decide(t.Context(), p, user, 1)
			if err != nil || v.Degraded != p.OnStore {
				t.Fatalf("%s: %+v, %v", choice, v, err)
			}
			if v.Pass {
				got++
			} else if v.RetryAfter <= 0 {
				t.Errorf("%s: a refusal without a time", choice)
			}
		}
		if got != passed {
			t.Errorf("%s: %d of 50 passed, want %d", choice, got, passed)
		}
		if n := store.asked.Load(); n > 10 { // one, and one more for each second that a busy machine takes
			t.Errorf("%s: the store was asked %d times of 50", choice, n)
		}
		store.back.Store(true)
		deadline := time.Now().Add(20 * time.Second)
		for v, err := d.Decide(t.Context(), p, user, 1); v.Degraded != ""; v, err = d.Decide(t.Context(), p, user, 1) {
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("%s: the store is back and not asked: %v", choice, err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func TestDecide_ShadowCountsAndLetsThrough(t *testing.T) {
	t.Parallel()
	d := policy.NewDecider(memory.New(), testKeys(t), 0)
	p := parsed(t, "policies: [{name: p, mode: shadow, on_store_error: fail_open, rules: [{name: r, key: [user], algorithm: gcra, rate: 1/1h, burst: 1}]}]")
	for i := range 3 {
		if v, err := d.Decide(t.Context(), p, user, 1); err != nil || !v.Pass || v.Allowed != (i == 0) || v.Rule != "p_r" {
			t.Errorf("call %d: %+v, %v", i, v, err)
		}
	}
}

func TestDecide_TheCallersMistakes(t *testing.T) {
	t.Parallel()
	d := policy.NewDecider(memory.New(), testKeys(t), 0)
	p := one(t, "[user]")
	if _, err := d.Decide(t.Context(), p, user, 2); !errors.Is(err, limit.ErrCost) {
		t.Errorf("a cost above the most: %v", err)
	}
	if _, err := d.Decide(t.Context(), p, func(policy.Part) string { return "" }, 1); !errors.Is(err, policy.ErrPart) {
		t.Errorf("no user: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Decide(gone, p, user, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who went away: %v", err)
	}
}
