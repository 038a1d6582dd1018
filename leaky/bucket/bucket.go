// Package bucket says how the jobs of one queue are kept until they are done. It knows
// nothing of jobs: a record is an id, an order key and bytes.
//
// A bucket has four lines. Jobs that may leave now stand in High or Normal; those that wait
// for a time, because they were asked for later or failed and are tried again, in Later;
// those that can never be delivered in Dead.
//
// Whatever was put is handed out at least once until it is done. It may be handed out
// again after a reader was killed or a broker moved it to another, and only then. Two
// backends do so: Kafka in kafkabucket, a Redis list in redisbucket; the suite in
// buckettest holds both to it.
package bucket

import (
	"context"
	"errors"
	"time"
)

// Line is one of the lines of a bucket.
type Line string

// The lines of a bucket.
const (
	High   Line = "high"
	Normal Line = "normal"
	Later  Line = "later"
	Dead   Line = "dead"
)

// Lines are all of them.
func Lines() []Line { return []Line{High, Normal, Later, Dead} }

var (
	// ErrAway is wrapped by every error that the backend caused: a broker or Redis that
	// does not answer. The call may or may not have been carried out.
	ErrAway = errors.New("bucket: backend is away")
	// ErrTooLarge means a record above MostBytes: no waiting would heal it.
	ErrTooLarge = errors.New("bucket: record is too large")
	// ErrClosed is what a closed bucket or reader says.
	ErrClosed = errors.New("bucket: closed")
	// ErrRecord means a record without an id, or one for Later without a due time.
	ErrRecord = errors.New("bucket: unusable record")
)

// MostBytes bounds the value of a record. A job's body is 256 KiB at most, its head less
// than 16 KiB.
const MostBytes = 288 << 10

// Record is what a bucket keeps.
type Record struct {
	ID string // of the job
	// Key orders: records of one line with the same key are handed out in the order in
	// which they were put. Records without one are spread evenly.
	Key   string
	Value []byte
	Due   time.Time // line Later only: not handed out before
}

// Bucket keeps the records of one queue. Its methods may be called from any goroutine.
type Bucket interface {
	// Put keeps records at the end of a line. After nil they are kept durably: Kafka has
	// them on all replicas in sync, Redis in the way it persists. After an error each of
	// them may have been kept or not; put again, with the same ids.
	// Errors wrap ErrAway, ErrTooLarge, ErrRecord or ErrClosed, or are ctx's.
	Put(ctx context.Context, line Line, records ...Record) error
	// Open begins to read High, Normal or Later as one of any number of readers in any
	// number of processes. It does not wait for the backend: a reader that is opened while
	// it is away begins when it comes.
	Open(line Line) (Reader, error)
	// Backlog counts what each line holds that is not done.
	Backlog(ctx context.Context) (map[Line]Backlog, error)
	// Scan calls visit with what Dead holds, oldest first, beginning after the mark from
	// (empty is the start), until visit says false or the end as it was when Scan began.
	// It gives the mark of the last record visited.
	Scan(ctx context.Context, from string, visit func(mark string, r Record, put time.Time) bool) (last string, err error)
	// Close ends all readers and waits for what they had begun to commit.
	Close() error
}

// Backlog is what one line holds.
type Backlog struct {
	Records int64
	// Oldest is when the oldest was put; zero when the line is empty or it is not known.
	Oldest time.Time
}

// Reader hands out the records of a line. Its methods may be called from any goroutine.
type Reader interface {
	// Next waits for the next record; of Later, for the next that is due. A backend that
	// goes away is no error: Next waits until it is back. Errors are ctx's or ErrClosed.
	Next(ctx context.Context) (*Item, error)
	// Done says that the record need not be handed out again. It does not block; the
	// record counts as done at the backend within about a second, when all before it on
	// its partition are done too, or at Close. Call it once for each item, in any order.
	// Of a lost item it does nothing.
	Done(item *Item)
	// Stalled is since when there has been something to read and nothing came, zero while
	// all is well.
	Stalled() time.Time
	// Close commits what is done and gives the rest back. It waits for ctx at most.
	Close(ctx context.Context) error
}

// Item is a record that was handed out.
type Item struct {
	Record
	Line Line
	// Put is when the record was put, by the backend's clock.
	Put time.Time
	// Lost is closed when the record belongs to another reader from now on: do not begin
	// to work on it, and finish without effect if it was begun.
	Lost <-chan struct{}
	// Mark is the backend's own.
	Mark any
}

// IsLost reports whether Lost is closed.
func (i *Item) IsLost() bool {
	select {
	case <-i.Lost:
		return true
	default:
		return false
	}
}
