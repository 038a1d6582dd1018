package limit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/anteroom/anteroom/limit/internal/arith"
)

var (
	// ErrStore is wrapped by every error that a store caused. The call may or may not have
	// been counted.
	ErrStore = errors.New("limit: store")
	// ErrCost means a cost below 1 or above the rule's MaxCost: the caller's mistake, which
	// no waiting would heal.
	ErrCost = errors.New("limit: cost out of bounds")
	// ErrKey means an empty key, or one above MostKey bytes.
	ErrKey = errors.New("limit: unusable key")
	// ErrChecks means no checks, more than MostChecks, or the same rule and key twice.
	ErrChecks = errors.New("limit: unusable set of checks")
	// ErrCrossSlot means checks whose keys do not share a slot of a Redis Cluster.
	ErrCrossSlot = errors.New("limit: keys of one decision must share a hash slot")
)

const (
	// MostKey bounds a key in bytes: what clients send must be hashed before.
	MostKey = 256
	// MostChecks bounds the limits of one decision.
	MostChecks = 16
)

// Decision is the answer to one call. Refused is an answer, not an error.
type Decision struct {
	Allowed bool
	// Limit is the rule's Burst, Remaining how many calls of cost 1 would pass now, after
	// this one.
	Limit, Remaining int64
	// RetryAfter is how long until the same call would pass if nobody else calls, 0 when it
	// was allowed. It is exact to the microsecond; round up what goes to a client.
	RetryAfter time.Duration
	// ResetAfter is how long until the key is as new if nobody calls.
	ResetAfter time.Duration
	// Rule is the name of the rule that decided.
	Rule string
}

// Limiter holds one rule against many keys. Its methods may be called from any goroutine.
type Limiter interface {
	// Allow takes cost from key's share if all of it is there, else nothing. Errors wrap
	// ErrCost, ErrKey or ErrStore; the decision is then the zero value.
	Allow(ctx context.Context, key string, cost int64) (Decision, error)
	// Peek says what Allow would say of a cost of 1, and takes nothing; Remaining is what is
	// there before such a call.
	Peek(ctx context.Context, key string) (Decision, error)
	// Reset forgets the key: it is as new. A key that is not there is no error.
	Reset(ctx context.Context, key string) error
}

// Check is one limit of a decision.
type Check struct {
	Limit *Limit
	Key   string
	Cost  int64
}

// Store keeps the state of limits. Its methods may be called from any goroutine, and
// each is one atomic step.
type Store interface {
	// All takes every cost or, when one limit refuses, none. List the narrowest limit first.
	// Refused: the decision is that of the first limit that refused, with the longest
	// RetryAfter of all that did. Allowed: that of the limit with the least Remaining.
	All(ctx context.Context, checks []Check) (Decision, error)
	// Peek and Reset are those of Limiter.
	Peek(ctx context.Context, l *Limit, key string) (Decision, error)
	Reset(ctx context.Context, l *Limit, key string) error
}

// Limit is a rule that was found sound. Two limits of the same name and algorithm share
// their keys in a store: that is how a changed rule goes on with what was used.
type Limit struct {
	rule   Rule
	params arith.Params
}

// New validates a rule. The error wraps ErrRule and names everything that is wrong.
func New(rule Rule) (*Limit, error) {
	if err := rule.Validate(); err != nil {
		return nil, err
	}
	return &Limit{rule: rule, params: rule.params()}, nil
}

// Rule is the rule as it was given to New.
func (l *Limit) Rule() Rule { return l.rule }

// Params is the rule in the integers of the arithmetic, for the stores of this module.
func (l *Limit) Params() *arith.Params { return &l.params }

// Recovery is how long a spent limit takes to be as new: Per for a window, two of them
// for the sliding counter, Burst/Rate for a bucket, rounded up to a microsecond. Within
// as much, any step of the clock is healed.
func (l *Limit) Recovery() time.Duration {
	return time.Duration(l.params.Recovery()) * time.Microsecond
}

// Decision dresses an outcome, for the stores of this module.
func (l *Limit) Decision(o arith.Outcome) Decision {
	return Decision{
		Allowed: o.Allowed, Limit: l.rule.Burst, Remaining: o.Remaining, Rule: l.rule.Name,
		RetryAfter: time.Duration(o.Retry) * time.Microsecond,
		ResetAfter: time.Duration(o.Reset) * time.Microsecond,
	}
}

// On binds the limit to a store.
func (l *Limit) On(store Store) Limiter { return bound{l, store} }

type bound struct {
	limit *Limit
	store Store
}

func (b bound) Allow(ctx context.Context, key string, cost int64) (Decision, error) {
	return b.store.All(ctx, []Check{{b.limit, key, cost}})
}

func (b bound) Peek(ctx context.Context, key string) (Decision, error) {
	return b.store.Peek(ctx, b.limit, key)
}

func (b bound) Reset(ctx context.Context, key string) error {
	return b.store.Reset(ctx, b.limit, key)
}

// ValidateChecks is what every store does first in All.
func ValidateChecks(checks []Check) error {
	if len(checks) == 0 || len(checks) > MostChecks {
		return fmt.Errorf("%w: %d checks, want 1 to %d", ErrChecks, len(checks), MostChecks)
	}
	for i, c := range checks {
		if err := ValidateKey(c.Key); err != nil {
			return fmt.Errorf("rule %s: %w", c.Limit.rule.Name, err)
		}
		if c.Cost < 1 || c.Cost > c.Limit.rule.MaxCost {
			return fmt.Errorf("rule %s: %w: %d, want 1 to %d", c.Limit.rule.Name, ErrCost, c.Cost, c.Limit.rule.MaxCost)
		}
		for _, other := range checks[:i] {
			if other.Key == c.Key && other.Limit.rule.Name == c.Limit.rule.Name {
				return fmt.Errorf("%w: rule %s twice on one key", ErrChecks, c.Limit.rule.Name)
			}
		}
	}
	return nil
}

// ValidateKey is what every store does first with a key.
func ValidateKey(key string) error {
	if key == "" || len(key) > MostKey {
		return fmt.Errorf("%w: %d bytes, want 1 to %d", ErrKey, len(key), MostKey)
	}
	return nil
}

// Merge joins the decision on a further check of All to that on the ones before, of which
// the zero value is none.
func Merge(before, next Decision) Decision {
	switch {
	case before.Rule == "":
		return next
	case before.Allowed && (!next.Allowed || next.Remaining < before.Remaining):
		return next
	case !before.Allowed && !next.Allowed:
		before.RetryAfter = max(before.RetryAfter, next.RetryAfter)
	}
	return before
}
