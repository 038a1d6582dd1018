package queue

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrStore is wrapped by every error that Redis caused: away, slow, loading, read-only,
// out of memory. The step may or may not have happened; all steps are idempotent.
var ErrStore = errors.New("queue: store")

// Line runs the steps of any number of rooms on one Redis (one node, Sentinel or
// Cluster). It is safe for concurrent use; the caller owns and closes the client.
type Line struct {
	rdb   redis.Scripter
	clock func() int64 // µs; nil = Redis TIME
	mem   memories
}

// Option changes a Line.
type Option func(*Line)

// WithClock replaces Redis TIME by a clock in microseconds, for tests.
func WithClock(microseconds func() int64) Option {
	return func(l *Line) { l.clock = microseconds }
}

// New returns a line on rdb. Deadlines come from the contexts of the calls.
func New(rdb redis.Scripter, options ...Option) *Line {
	l := &Line{rdb: rdb}
	for _, o := range options {
		o(l)
	}
	return l
}

// call runs one script with the arguments that all of them share before its own.
func (l *Line) call(ctx context.Context, step string, script *redis.Script, room Room, own ...any) ([]int64, error) {
	return l.run(ctx, step, script, room, l.mem.of(room.Name).known(room.Rules), own...)
}

// run is call for a step that has already asked what is known.
func (l *Line) run(ctx context.Context, step string, script *redis.Script, room Room, k known, own ...any) ([]int64, error) {
	return l.eval(ctx, step, script, room, k, keys(room.Name), own)
}

// onKey is call for a step with one more key.
func (l *Line) onKey(ctx context.Context, step string, script *redis.Script, room Room, key string, own ...any) ([]int64, error) {
	mem := l.mem.of(room.Name)
	v, err := l.eval(ctx, step, script, room, mem.known(room.Rules), append(keys(room.Name), key), own)
	if err == nil {
		mem.saw(v[len(v)-1])
	}
	return v, err
}

// eval runs a script on the keys of a room and reads its answer.
func (l *Line) eval(ctx context.Context, step string, script *redis.Script, room Room, k known, names []string, own []any) ([]int64, error) {
	now := int64(0)
	if l.clock != nil {
		now = l.clock()
	}
	args := make([]any, 0, 6+len(own))
	args = append(args, now, k.generation > 0, k.generation, ms(room.Rules.Heartbeat), ms(room.Rules.KeepPlace), ms(settle))
	reply, err := script.Run(ctx, l.rdb, names, append(args, own...)...).Slice()
	if err != nil {
		return nil, fmt.Errorf("%w: %s in room %s: %w", ErrStore, step, room.Name, err)
	}
	out := make([]int64, len(reply))
	for i, v := range reply {
		if out[i], err = integer(v); err != nil {
			return nil, fmt.Errorf("%w: %s in room %s: answer %d: %w", ErrStore, step, room.Name, i, err)
		}
	}
	return out, nil
}

// integer reads a number of a script's answer: small ones are integers, large ones
// strings, because Redis prints only 14 digits of a Lua number.
func integer(v any) (int64, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case string:
		return strconv.ParseInt(v, 10, 64)
	default:
		return 0, fmt.Errorf("unexpected %T", v)
	}
}

func ms(d time.Duration) int64 { return d.Milliseconds() }
func us(d time.Duration) int64 { return d.Microseconds() }

func fromMS(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
