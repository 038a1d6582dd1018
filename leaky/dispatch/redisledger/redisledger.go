package redisledger

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/leaky/dispatch"
)

var (
	//go:embed lua/prelude.lua
	preludeLua string
	//go:embed lua/slot.lua
	slotLua string
	//go:embed lua/begin.lua
	beginLua string
	//go:embed lua/retry.lua
	retryLua string
	//go:embed lua/finish.lua
	finishLua string
	//go:embed lua/pause.lua
	pauseLua string
	//go:embed lua/gate.lua
	gateLua string
	//go:embed lua/switch.lua
	switchLua string
	//go:embed lua/revive.lua
	reviveLua string
	//go:embed lua/confirm.lua
	confirmLua string

	slotScript   = redis.NewScript(preludeLua + slotLua)
	beginScript  = redis.NewScript(preludeLua + beginLua)
	retryScript  = redis.NewScript(preludeLua + retryLua)
	finishScript = redis.NewScript(preludeLua + finishLua)
	pauseScript  = redis.NewScript(preludeLua + pauseLua)
	gateScript   = redis.NewScript(preludeLua + gateLua)
	switchScript = redis.NewScript(preludeLua + switchLua)
	reviveScript = redis.NewScript(preludeLua + reviveLua)

	confirmScript = redis.NewScript(preludeLua + confirmLua)
)

// Errors of this package.
var (
	ErrConfig = errors.New("redisledger: configuration")
	errAnswer = errors.New("redisledger: unexpected answer")
)

const (
	// slowest is the least rate, one unit of cost in a day.
	slowest = 1.0 / 86400
	// fastest is the greatest: the clock has microseconds.
	fastest = 1e6
	// mostAhead bounds how far away a place may be.
	mostAhead = 30 * 24 * time.Hour
	maxReason = 600
)

// Options say how a queue is paced.
type Options struct {
	Rate  float64       // units of cost a second, from one in a day to a million
	Burst int64         // units that may leave at once after a pause in the work. Default 1
	Keep  time.Duration // how long the status of a job is kept after its last change. Default 7 days
}

// Ledger implements dispatch.Ledger for any number of dispatchers. It is safe for concurrent use.
type Ledger struct {
	rdb      redis.Scripter
	queue    string
	interval int64 // ns between units of cost
	burst    int64
	keep     int64 // ms
}

var (
	_ dispatch.Ledger  = (*Ledger)(nil)
	_ dispatch.Reviver = (*Ledger)(nil)
)

// New is the ledger of one queue. The error wraps ErrConfig.
func New(rdb redis.Scripter, queue string, o Options) (*Ledger, error) {
	if queue == "" || !(o.Rate >= slowest && o.Rate <= fastest) || o.Burst < 0 || o.Burst > 1e6 {
		return nil, fmt.Errorf("%w: queue %q at rate %v, burst %d; want a name, a rate from one a day to a million a second, and a burst up to a million", ErrConfig, queue, o.Rate, o.Burst)
	}
	if o.Keep <= 0 {
		o.Keep = 7 * 24 * time.Hour
	}
	return &Ledger{
		rdb: rdb, queue: queue, interval: int64(1e9/o.Rate + 0.5),
		burst: max(o.Burst, 1), keep: o.Keep.Milliseconds(),
	}, nil
}

// Slot implements dispatch.Ledger.
func (l *Ledger) Slot(ctx context.Context, cost int64, ahead time.Duration) (dispatch.Slot, error) {
	answer, err := l.ask(ctx, slotScript, []string{keyPace(l.queue)}, l.interval, l.burst, cost, min(ahead, mostAhead).Microseconds())
	if err != nil {
		return dispatch.Slot{}, err
	}
	taken, wait, err := codeAnd(answer)
	return dispatch.Slot{Taken: taken == 1, Wait: time.Duration(wait) * time.Microsecond}, err
}

// Begin implements dispatch.Ledger.
func (l *Ledger) Begin(ctx context.Context, job, holder string, lease time.Duration) (dispatch.Start, error) {
	answer, err := l.ask(ctx, beginScript, []string{keyJob(l.queue, job), keyHeld(l.queue)}, job, lease.Milliseconds(), holder, l.keep)
	if err != nil {
		return dispatch.Start{}, err
	}
	code, until, err := codeAnd(answer)
	states := []dispatch.StartState{dispatch.Run, dispatch.Busy, dispatch.WasDone, dispatch.Cancelled}
	if err != nil || code < 0 || code >= int64(len(states)) {
		return dispatch.Start{}, fmt.Errorf("%w: begin: %v", errAnswer, answer)
	}
	return dispatch.Start{State: states[code], Until: time.Duration(until) * time.Millisecond}, nil
}

// Retry implements dispatch.Ledger.
func (l *Ledger) Retry(ctx context.Context, job string, attempts int, in time.Duration, reason string) error {
	return retryScript.Run(ctx, l.rdb, []string{keyJob(l.queue, job)}, attempts, in.Milliseconds(), clip(reason), l.keep).Err()
}

// Finish implements dispatch.Ledger.
func (l *Ledger) Finish(ctx context.Context, job string, state dispatch.State, attempts int, reason string) error {
	return finishScript.Run(ctx, l.rdb, []string{keyJob(l.queue, job), keyHeld(l.queue)}, job, string(state), attempts, clip(reason), l.keep).Err()
}

// Pause implements dispatch.Ledger.
func (l *Ledger) Pause(ctx context.Context, d time.Duration, reason string) error {
	return pauseScript.Run(ctx, l.rdb, []string{keyGate(l.queue)}, d.Milliseconds(), clip(reason)).Err()
}

// Disable implements dispatch.Ledger.
func (l *Ledger) Disable(ctx context.Context, reason string) error {
	return l.set(ctx, "disabled", orUnknown(reason))
}

// Enable ends Disable.
func (l *Ledger) Enable(ctx context.Context) error { return l.set(ctx, "disabled", "") }

// Hold lets every dispatcher wait until Resume.
func (l *Ledger) Hold(ctx context.Context, reason string) error {
	return l.set(ctx, "held", orUnknown(reason))
}

// Resume ends Hold.
func (l *Ledger) Resume(ctx context.Context) error { return l.set(ctx, "held", "") }

// Gate implements dispatch.Ledger.
func (l *Ledger) Gate(ctx context.Context) (dispatch.Gate, error) {
	answer, err := l.ask(ctx, gateScript, []string{keyGate(l.queue)})
	if err != nil {
		return dispatch.Gate{}, err
	}
	if len(answer) != 4 {
		return dispatch.Gate{}, fmt.Errorf("%w: gate: %v", errAnswer, answer)
	}
	left, err := strconv.ParseInt(fmt.Sprint(answer[2]), 10, 64)
	return dispatch.Gate{
		Held: answer[0] == int64(1), Disabled: answer[1] == int64(1),
		Paused: time.Duration(left) * time.Millisecond, Reason: fmt.Sprint(answer[3]),
	}, err
}

// set gives a switch its reason; an empty one ends it.
func (l *Ledger) set(ctx context.Context, name, reason string) error {
	return switchScript.Run(ctx, l.rdb, []string{keyGate(l.queue)}, name, clip(reason)).Err()
}

func orUnknown(reason string) string {
	if reason == "" {
		return "no reason was given"
	}
	return reason
}

// Revive implements dispatch.Reviver.
func (l *Ledger) Revive(ctx context.Context, job string, hold time.Duration) (bool, error) {
	return reviveScript.Run(ctx, l.rdb, []string{keyJob(l.queue, job), keyHeld(l.queue)}, job, hold.Milliseconds(), l.keep).Bool()
}

// Confirm implements dispatch.Reviver.
func (l *Ledger) Confirm(ctx context.Context, job string) error {
	return confirmScript.Run(ctx, l.rdb, []string{keyJob(l.queue, job)}).Err()
}

func (l *Ledger) ask(ctx context.Context, script *redis.Script, keys []string, args ...any) ([]any, error) {
	answer, err := script.Run(ctx, l.rdb, keys, args...).Slice()
	if err != nil {
		return nil, fmt.Errorf("redisledger: queue %s: %w", l.queue, err)
	}
	return answer, nil
}

// codeAnd reads {code, number as a string}.
func codeAnd(answer []any) (code, number int64, err error) {
	if len(answer) != 2 {
		return 0, 0, fmt.Errorf("%w: %v", errAnswer, answer)
	}
	code, ok := answer[0].(int64)
	number, err = strconv.ParseInt(fmt.Sprint(answer[1]), 10, 64)
	if !ok || err != nil {
		return 0, 0, fmt.Errorf("%w: %v", errAnswer, answer)
	}
	return code, number, nil
}

// clip bounds a reason, in bytes, without half a character at its end.
func clip(reason string) string {
	return strings.ToValidUTF8(reason[:min(len(reason), maxReason)], "")
}
