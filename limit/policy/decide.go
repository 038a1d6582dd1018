package policy

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/anteroom/anteroom/limit"
	"github.com/anteroom/anteroom/limit/clientkey"
	"github.com/anteroom/anteroom/limit/memory"
	"github.com/anteroom/anteroom/limit/refused"
)

const (
	// DefaultTimeout bounds a question to the store.
	DefaultTimeout = 50 * time.Millisecond
	// pause is how long a store that failed is not asked, save by one caller at its end.
	pause = time.Second
	// closedFor is what a caller is told to wait while nobody passes.
	closedFor = time.Second
)

// Verdict is a decision and what becomes of the call.
type Verdict struct {
	limit.Decision
	// Pass says whether the call goes on: Allowed, or refused in the shadow.
	Pass bool
	// Degraded is the policy's choice when the store did not decide, else empty.
	Degraded OnStoreError
	// Checks are the limits that were asked.
	Checks []limit.Check
}

// Decider decides by policies on one store. Its methods may be called from any goroutine.
type Decider struct {
	keys    *clientkey.Keys
	store   *refused.Store
	local   *memory.Store
	timeout time.Duration
	now     func() time.Time
	back    atomic.Int64 // ns of Unix: when the store is asked again; 0 = it answers
}

// NewDecider decides on a store. timeout bounds each question; 0 means DefaultTimeout.
func NewDecider(store limit.Store, keys *clientkey.Keys, timeout time.Duration) *Decider {
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	return &Decider{keys: keys, store: refused.New(store, 0, nil), local: memory.New(), timeout: timeout, now: time.Now}
}

// Decide takes cost from every rule of the policy, or from none. Errors are the caller's:
// they wrap ErrPart, limit.ErrCost or the context's own. A store that is away is no error:
// the policy says what then holds, after the timeout at first, and at once from then on.
func (d *Decider) Decide(ctx context.Context, p *Policy, values Values, cost int64) (Verdict, error) {
	checks, err := d.checks(p, values, cost)
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{Checks: checks}
	v.Decision, err = d.ask(ctx, checks)
	if err != nil {
		if ctx.Err() != nil {
			return Verdict{}, ctx.Err()
		}
		if err := d.without(ctx, p, &v); err != nil {
			return Verdict{}, err
		}
	}
	v.Pass = v.Allowed || p.Mode == Shadow
	return v, nil
}

// Valid tells what Decide would say of a caller's mistakes, and takes nothing.
func (d *Decider) Valid(p *Policy, values Values, cost int64) error {
	_, err := d.checks(p, values, cost)
	return err
}

func (d *Decider) checks(p *Policy, values Values, cost int64) ([]limit.Check, error) {
	checks, err := p.Checks(d.keys, values, cost)
	if err != nil {
		return nil, err
	}
	return checks, limit.ValidateChecks(checks)
}

// errPaused means that the store failed a moment ago.
var errPaused = errors.New("policy: the store failed a moment ago")

func (d *Decider) ask(ctx context.Context, checks []limit.Check) (limit.Decision, error) {
	if known, ok := d.store.Known(checks); ok {
		return known, nil
	}
	if back := d.back.Load(); back != 0 {
		now := d.now()
		if now.UnixNano() < back || !d.back.CompareAndSwap(back, now.Add(pause).UnixNano()) {
			return limit.Decision{}, errPaused
		}
	}
	inner, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	decision, err := d.store.All(inner, checks)
	switch {
	case err == nil:
		d.back.Store(0)
	case ctx.Err() == nil:
		d.back.Store(d.now().Add(pause).UnixNano())
	}
	return decision, err
}

// without decides while the store is away.
func (d *Decider) without(ctx context.Context, p *Policy, v *Verdict) error {
	v.Degraded = p.OnStore
	first := p.Rules[0].Limit.Rule()
	switch p.OnStore {
	case FailOpen:
		v.Decision = limit.Decision{Allowed: true, Limit: first.Burst, Rule: first.Name}
		return nil
	case Local:
		local := make([]limit.Check, len(v.Checks))
		for i, c := range v.Checks {
			local[i] = limit.Check{Limit: p.Rules[i].Local, Key: c.Key, Cost: c.Cost}
		}
		var err error
		v.Checks = local
		v.Decision, err = d.local.All(ctx, local)
		return err
	default:
		v.Decision = limit.Decision{Limit: first.Burst, RetryAfter: closedFor, ResetAfter: closedFor, Rule: first.Name}
		return nil
	}
}
