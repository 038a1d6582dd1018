// Package refused remembers who was refused, and until when, so that a caller who keeps
// asking costs the store nothing. What it answers, the store would answer too: a refusal
// holds until its RetryAfter has passed, whoever else calls. A Reset through the same Store
// forgets at once; one in another process is seen when the refusal is over.
package refused

import (
	"context"
	"strconv"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/anteroom/anteroom/limit"
)

// DefaultMost is how many refusals are kept: about 3 MB.
const DefaultMost = 10_000

// Store is a limit.Store that remembers the refusals of another. Its methods may be called
// from any goroutine. It has no goroutine and needs no closing.
type Store struct {
	limit.Store
	known *lru.Cache[string, refusal]
	now   func() time.Time
}

type refusal struct {
	decision limit.Decision
	at       time.Time
}

// New wraps a store. most bounds the refusals that are kept; below 1 it is DefaultMost. now
// is time.Now, save in tests.
func New(store limit.Store, most int, now func() time.Time) *Store {
	if most < 1 {
		most = DefaultMost
	}
	if now == nil {
		now = time.Now
	}
	known, _ := lru.New[string, refusal](most) // fails only for a size below 1
	return &Store{Store: store, known: known, now: now}
}

// Known is the refusal that still holds for exactly these checks. It asks nobody.
func (s *Store) Known(checks []limit.Check) (limit.Decision, bool) {
	if s.known.Len() == 0 {
		return limit.Decision{}, false
	}
	r, ok := s.known.Get(nameOf(checks))
	if !ok {
		return limit.Decision{}, false
	}
	since := max(0, s.now().Sub(r.at))
	if since >= r.decision.RetryAfter {
		return limit.Decision{}, false
	}
	d := r.decision
	d.RetryAfter -= since
	d.ResetAfter = max(d.ResetAfter-since, d.RetryAfter)
	return d, true
}

// All is limit.Store's.
func (s *Store) All(ctx context.Context, checks []limit.Check) (limit.Decision, error) {
	if d, ok := s.Known(checks); ok {
		return d, nil
	}
	asked := s.now()
	d, err := s.Store.All(ctx, checks)
	if err == nil && !d.Allowed && d.RetryAfter > 0 && !recorded(checks) {
		// Counted from the question: the answer may have been long on its way.
		s.known.Add(nameOf(checks), refusal{d, asked})
	}
	return d, err
}

// Reset is limit.Store's. It forgets all refusals: some may be of several limits.
func (s *Store) Reset(ctx context.Context, l *limit.Limit, key string) error {
	err := s.Store.Reset(ctx, l, key)
	s.known.Purge()
	return err
}

// recorded tells of limits that count refused calls too: those have to see each.
func recorded(checks []limit.Check) bool {
	for _, c := range checks {
		if c.Limit.Rule().RecordDenied {
			return true
		}
	}
	return false
}

// nameOf names a set of checks, each with its whole rule: a changed one is another.
func nameOf(checks []limit.Check) string {
	b := make([]byte, 0, 128)
	for _, c := range checks {
		rule := c.Limit.Rule()
		b = append(b, rule.Name...)
		b = append(b, 0)
		b = append(b, rule.Algorithm...)
		for _, n := range [...]int64{rule.Rate.Count, int64(rule.Rate.Per), rule.Burst, c.Cost, int64(len(c.Key))} {
			b = strconv.AppendInt(append(b, ' '), n, 36)
		}
		b = append(append(b, ' '), c.Key...)
	}
	return string(b)
}
