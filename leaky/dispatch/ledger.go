package dispatch

import (
	"context"
	"time"
)

// Ledger is what the dispatchers of one queue share beside the bucket. Its methods may be
// called from any goroutine; each is one atomic step and obeys its ctx. An error means that
// the step may or may not have been made; every one may be made again.
type Ledger interface {
	// Slot takes the next place in the pace for work of a cost, if that place is at most
	// ahead from now; otherwise it takes none and says when to ask again.
	Slot(ctx context.Context, cost int64, ahead time.Duration) (Slot, error)
	// Begin asks to work on a job. If it may be run, no other holder may before lease has
	// passed or Retry or Finish was called. A holder is one job in hand of one dispatcher.
	Begin(ctx context.Context, job, holder string, lease time.Duration) (Start, error)
	// Retry ends the work on a job that stays in the bucket and may begin again at once,
	// whoever comes with it. in is when that is meant to be, for those who ask for its status.
	Retry(ctx context.Context, job string, attempts int, in time.Duration, reason string) error
	// Finish ends the work on a job for good.
	Finish(ctx context.Context, job string, state State, attempts int, reason string) error
	// Pause lets every dispatcher wait for d. It never makes a pause shorter.
	Pause(ctx context.Context, d time.Duration, reason string) error
	// Disable lets every dispatcher wait for an operator.
	Disable(ctx context.Context, reason string) error
	// Gate says whether the queue may send.
	Gate(ctx context.Context) (Gate, error)
}

// Slot is a place in the pace.
type Slot struct {
	Taken bool
	// Wait is how long until the place that was taken, or until it is worth to ask again.
	Wait time.Duration
}

// Start is the answer to Begin.
type Start struct {
	State StartState
	Until time.Duration // with Busy: when the other's lease ends
}

// StartState is what to do with a job.
type StartState int

// What to do with a job.
const (
	Run       StartState = iota // work on it
	Busy                        // another does
	WasDone                     // it is finished; the bucket does not know yet
	Cancelled                   // its sender wants it no more
)

// State is how a job ended.
type State string

// How a job ended.
const (
	StateDelivered State = "delivered"
	StateDead      State = "dead"
	StateCancelled State = "cancelled"
)

// Gate is what dispatchers are told to do.
type Gate struct {
	Held     bool          // an operator holds the queue
	Disabled bool          // the destination answered 410, or an operator disabled the queue
	Paused   time.Duration // what is left of a pause, 0 without one
	Reason   string
}
