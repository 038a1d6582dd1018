package memory

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/anteroom/anteroom/limit"
	"github.com/anteroom/anteroom/limit/internal/arith"
)

const (
	// DefaultMaxKeys keeps the store below about 30 MB without sliding logs.
	DefaultMaxKeys = 100_000
	// DefaultMaxIdle is how long a key is kept that nobody asks about.
	DefaultMaxIdle = 10 * time.Minute
	// forgetMost is how many idle keys one call removes: more than it can add.
	forgetMost = limit.MostChecks + 2
)

// Store keeps limits in this process. The zero value is not usable; see New.
type Store struct {
	clock   func() int64 // µs
	maxKeys int
	maxIdle int64 // µs

	mu   sync.Mutex
	keys *simplelru.LRU[id, *entry]
}

// id is a key of a rule. Algorithms do not share state.
type id struct {
	rule, key string
	kind      arith.Kind
}

type entry struct {
	state    arith.State
	seen     int64 // µs
	recovery int64 // µs, of the rule that saw it last
}

// Option changes a Store.
type Option func(*Store)

// WithClock replaces the clock by one in microseconds since 1970, for tests.
func WithClock(microseconds func() int64) Option {
	return func(s *Store) { s.clock = microseconds }
}

// WithMaxKeys bounds the keys; above it the one that was asked about longest ago is
// forgotten. n below 1 means DefaultMaxKeys.
func WithMaxKeys(n int) Option { return func(s *Store) { s.maxKeys = n } }

// WithMaxIdle bounds how long a key is kept that nobody asks about. A key is never
// forgotten for idleness before its recovery: that would refill it.
func WithMaxIdle(d time.Duration) Option {
	return func(s *Store) { s.maxIdle = d.Microseconds() }
}

// New returns an empty store. It has no goroutine and needs no closing. Its clock is the
// wall clock at the start and runs on without steps.
func New(options ...Option) *Store {
	start := time.Now()
	s := &Store{
		maxKeys: DefaultMaxKeys, maxIdle: DefaultMaxIdle.Microseconds(),
		clock: func() int64 { return start.UnixMicro() + time.Since(start).Microseconds() },
	}
	for _, o := range options {
		o(s)
	}
	if s.maxKeys < 1 {
		s.maxKeys = DefaultMaxKeys
	}
	s.keys, _ = simplelru.NewLRU[id, *entry](s.maxKeys, nil) // fails only for a size below 1
	return s
}

// Len is how many keys are remembered.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys.Len()
}

// All is limit.Store's. It never waits for anything but the store's lock.
func (s *Store) All(ctx context.Context, checks []limit.Check) (limit.Decision, error) {
	if err := limit.ValidateChecks(checks); err != nil {
		return limit.Decision{}, err
	}
	if err := ctx.Err(); err != nil {
		return limit.Decision{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	s.forget(now)
	if len(checks) == 1 {
		o, idle, taken := s.try(checks[0], now)
		s.keep(checks[0], now, o.Allowed, idle, taken)
		return checks[0].Limit.Decision(o), nil
	}
	return s.several(checks, now), nil
}

func (s *Store) several(checks []limit.Check, now int64) limit.Decision {
	idle, taken := make([]arith.State, len(checks)), make([]arith.State, len(checks))
	var d limit.Decision
	for i, c := range checks {
		var o arith.Outcome
		o, idle[i], taken[i] = s.try(c, now)
		d = limit.Merge(d, c.Limit.Decision(o))
	}
	for i, c := range checks {
		s.keep(c, now, d.Allowed, idle[i], taken[i])
	}
	return d
}

func (s *Store) try(c limit.Check, now int64) (o arith.Outcome, idle, taken arith.State) {
	var state arith.State
	if e, ok := s.keys.Get(idOf(c.Limit, c.Key)); ok {
		state = e.state
	}
	return arith.Try(c.Limit.Params(), state, now, c.Cost)
}

// keep writes back. A key that was not there and that nothing was taken from stays away.
func (s *Store) keep(c limit.Check, now int64, allowed bool, idle, taken arith.State) {
	at := idOf(c.Limit, c.Key)
	e, ok := s.keys.Peek(at)
	if !ok && !allowed {
		return
	}
	if !ok {
		e = &entry{}
		s.keys.Add(at, e)
	}
	e.seen, e.recovery = now, c.Limit.Params().Recovery()
	if e.state = idle; allowed {
		e.state = taken
	}
}

// forget drops the keys that were idle for long, from the one asked about longest ago.
func (s *Store) forget(now int64) {
	for range forgetMost {
		_, e, ok := s.keys.GetOldest()
		if !ok || now-e.seen < max(s.maxIdle, 2*e.recovery) {
			return
		}
		s.keys.RemoveOldest()
	}
}

// Peek is limit.Store's.
func (s *Store) Peek(_ context.Context, l *limit.Limit, key string) (limit.Decision, error) {
	if err := limit.ValidateKey(key); err != nil {
		return limit.Decision{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var state arith.State
	if e, ok := s.keys.Peek(idOf(l, key)); ok {
		state = e.state
	}
	return l.Decision(arith.Look(l.Params(), state, s.clock())), nil
}

// Reset is limit.Store's.
func (s *Store) Reset(_ context.Context, l *limit.Limit, key string) error {
	if err := limit.ValidateKey(key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys.Remove(idOf(l, key))
	return nil
}

func idOf(l *limit.Limit, key string) id { return id{l.Rule().Name, key, l.Params().Kind} }
