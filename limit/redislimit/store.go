package redislimit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/limit"
	"github.com/anteroom/anteroom/limit/internal/arith"
)

// ErrNoTime means a Redis whose scripts cannot read TIME: use WithClock.
var ErrNoTime = errors.New("redislimit: this Redis gives scripts no TIME")

// Client is what a store needs of *redis.Client, of Sentinel's, or *redis.ClusterClient.
type Client interface {
	Process(ctx context.Context, cmd redis.Cmder) error
}

// Store keeps limits in Redis. It is safe for concurrent use; the caller owns and closes
// the client. Deadlines come from the contexts of the calls.
type Store struct {
	client Client
	clock  func() int64 // µs; nil = Redis TIME
	prefix string
	tag    string
}

// Option changes a Store.
type Option func(*Store)

// WithClock replaces Redis TIME by a clock in microseconds since 1970: for tests, and for
// a Redis whose scripts cannot read TIME. Clocks of several processes may differ by less
// than a rule's recovery; the one ahead then counts.
func WithClock(microseconds func() int64) Option {
	return func(s *Store) { s.clock = microseconds }
}

// WithPrefix sets what all keys begin with; without it they begin with "limit". It must
// have no braces.
func WithPrefix(prefix string) Option { return func(s *Store) { s.prefix = prefix } }

// WithTag puts all keys into one hash slot of a cluster, so that limits on different keys
// can be decided together. All of them are then the load of one shard. Without it each
// caller's key is a tag of its own. It must have no braces.
func WithTag(tag string) Option { return func(s *Store) { s.tag = tag } }

// New returns a store on a client. It does not dial.
func New(client Client, options ...Option) *Store {
	s := &Store{client: client, prefix: "limit"}
	for _, o := range options {
		o(s)
	}
	return s
}

// Probe asks once whether this Redis can run the limiters, for a program's start. The error
// is ErrNoTime, or wraps limit.ErrStore.
func (s *Store) Probe(ctx context.Context) error {
	l, err := limit.New(limit.Rule{Name: "probe", Algorithm: limit.GCRA, Rate: limit.Rate{Count: 1, Per: 1e9}, Burst: 1, MaxCost: 1})
	if err == nil {
		_, err = s.Peek(ctx, l, "probe")
	}
	if err != nil && s.clock == nil && strings.Contains(err.Error(), "Unknown Redis command") {
		return fmt.Errorf("%w: %w", ErrNoTime, err)
	}
	return err
}

// All is limit.Store's, in one round trip. On a cluster all keys must share a slot, or the
// error is limit.ErrCrossSlot. A call that was sent is never sent again, save after NOSCRIPT:
// an error that is no answer of Redis leaves open whether it was counted.
func (s *Store) All(ctx context.Context, checks []limit.Check) (limit.Decision, error) {
	if err := limit.ValidateChecks(checks); err != nil {
		return limit.Decision{}, err
	}
	return s.decide(ctx, checks, false)
}

// Peek is limit.Store's. It writes nothing.
func (s *Store) Peek(ctx context.Context, l *limit.Limit, key string) (limit.Decision, error) {
	if err := limit.ValidateKey(key); err != nil {
		return limit.Decision{}, err
	}
	return s.decide(ctx, []limit.Check{{Limit: l, Key: key, Cost: 1}}, true)
}

// Reset is limit.Store's.
func (s *Store) Reset(ctx context.Context, l *limit.Limit, key string) error {
	if err := limit.ValidateKey(key); err != nil {
		return err
	}
	args := []any{"unlink"}
	for _, k := range s.appendKeys(nil, l, key) {
		args = append(args, k)
	}
	cmd := redis.NewIntCmd(ctx, args...)
	if err := s.client.Process(ctx, cmd); err != nil {
		return fmt.Errorf("%w: reset rule %s: %w", limit.ErrStore, l.Rule().Name, err)
	}
	return nil
}

func (s *Store) decide(ctx context.Context, checks []limit.Check, look bool) (limit.Decision, error) {
	run := &severalScript
	if len(checks) == 1 {
		run = scriptOf(checks[0].Limit.Params().Kind)
	}
	keys := make([]string, 0, 2*len(checks))
	for _, c := range checks {
		keys = s.appendKeys(keys, c.Limit, c.Key)
	}
	reply, err := s.eval(ctx, run, keys, s.arguments(checks, look))
	var d limit.Decision
	for i := 0; i < len(checks) && err == nil; i++ {
		var o arith.Outcome
		if o, err = outcome(reply, i); err == nil {
			d = limit.Merge(d, checks[i].Limit.Decision(o))
		}
	}
	if err != nil {
		return limit.Decision{}, fmt.Errorf("%w: rule %s: %w", limit.ErrStore, checks[0].Limit.Rule().Name, err)
	}
	return d, nil
}

// arguments are ARGV of lua/prelude.lua.
func (s *Store) arguments(checks []limit.Check, look bool) []any {
	now := int64(-1)
	if s.clock != nil {
		now = s.clock()
	}
	args := make([]any, 0, 2+7*len(checks))
	args = append(args, now, look)
	for _, c := range checks {
		p := c.Limit.Params()
		args = append(args, int(p.Kind), p.Limit, c.Cost, p.Recovery())
		if p.Window > 0 {
			args = append(args, p.Window, p.Tick, p.RecordDenied)
		} else {
			args = append(args, p.PerToken, p.PerMicro, p.Capacity)
		}
	}
	return args
}

// outcome reads the four numbers of check i.
func outcome(reply []any, i int) (arith.Outcome, error) {
	var n [4]int64
	if len(reply) < 4*i+4 {
		return arith.Outcome{}, fmt.Errorf("an answer of %d numbers", len(reply))
	}
	for j := range n {
		var err error
		switch v := reply[4*i+j].(type) {
		case int64:
			n[j] = v
		case string:
			n[j], err = strconv.ParseInt(v, 10, 64)
		default:
			err = fmt.Errorf("unexpected %T", v)
		}
		if err != nil {
			return arith.Outcome{}, fmt.Errorf("answer %d: %w", 4*i+j, err)
		}
	}
	return arith.Outcome{Allowed: n[0] == 1, Remaining: n[1], Retry: n[2], Reset: n[3]}, nil
}
