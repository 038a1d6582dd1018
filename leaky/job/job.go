// Package job is what a job is: what was asked for, and what became of it so far, as the
// bytes that a bucket keeps.
package job

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/anteroom/anteroom/leaky/bucket"
)

// Bounds of a job, in bytes.
const (
	MostBody        = 256 << 10
	MostKey         = 128
	MostTenant      = 64
	MostContentType = 128
)

// KeptHistory is how many of the last failed tries are kept with a job.
const KeptHistory = 10

// Job is one job. Times are UTC with the precision of a millisecond, by the clock of Redis.
type Job struct {
	ID     string      `json:"id"`
	Queue  string      `json:"queue"`
	Tenant string      `json:"tenant"`
	Lane   bucket.Line `json:"lane"` // High or Normal
	// Key orders: jobs of one key are delivered one after the other, in the order in which
	// they were accepted. Empty is any order.
	Key         string    `json:"key,omitempty"`
	Cost        int64     `json:"cost"` // of the pace, 1 or more
	ContentType string    `json:"content_type"`
	Accepted    time.Time `json:"accepted"`
	NotBefore   time.Time `json:"not_before,omitzero"`

	// Attempts is how many tries were made that count, FirstTry when the first began.
	Attempts int       `json:"attempts,omitempty"`
	FirstTry time.Time `json:"first_try,omitzero"`
	// History is what went wrong, the last KeptHistory tries, oldest first.
	History []Failure `json:"history,omitempty"`
	// Dead is why it is in the dead letters: "attempts", "deadline", "invalid", "unreadable".
	Dead string `json:"dead,omitempty"`
	// Replays is how often it was taken out of the dead letters.
	Replays int `json:"replays,omitempty"`

	Body []byte `json:"-"`
}

// Failure is one try that failed. Reason may quote the receiver: escape it where it is shown.
type Failure struct {
	At     time.Time `json:"at"`
	Status int       `json:"status,omitempty"` // of HTTP, 0 without an answer
	Reason string    `json:"reason"`
}

// NewID is a new job's id: 26 letters and digits, 130 random bits.
func NewID() string { return rand.Text() }

// ErrUnreadable is wrapped by every error of Decode.
var ErrUnreadable = errors.New("job: unreadable record")

// magic begins every record; the figure is the version of what follows: one line of JSON,
// then the body as it came.
var magic = []byte("anteroom-job 1\n")

// Encode gives the bytes that a bucket keeps.
func (j *Job) Encode() ([]byte, error) {
	head, err := json.Marshal(j)
	if err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	out := make([]byte, 0, len(magic)+len(head)+1+len(j.Body))
	out = append(append(append(out, magic...), head...), '\n')
	return append(out, j.Body...), nil
}

// Decode reads what Encode gave. The body is a part of record and must not be changed.
func Decode(record []byte) (*Job, error) {
	rest, found := bytes.CutPrefix(record, magic)
	if !found {
		return nil, fmt.Errorf("%w: it does not begin as one, or is of another version", ErrUnreadable)
	}
	head, body, found := bytes.Cut(rest, []byte{'\n'})
	if !found {
		return nil, fmt.Errorf("%w: its head has no end", ErrUnreadable)
	}
	var j Job
	if err := json.Unmarshal(head, &j); err != nil {
		return nil, fmt.Errorf("%w: head: %w", ErrUnreadable, err)
	}
	j.Body = body
	if err := j.sound(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return &j, nil
}

// sound checks what no intake would have let through.
func (j *Job) sound() error {
	switch {
	case j.ID == "" || j.Queue == "":
		return errors.New("no id or no queue")
	case j.Lane != bucket.High && j.Lane != bucket.Normal:
		return fmt.Errorf("lane %.20q", j.Lane)
	case j.Cost < 1 || j.Attempts < 0:
		return fmt.Errorf("cost %d, attempts %d", j.Cost, j.Attempts)
	case len(j.Body) > MostBody:
		return fmt.Errorf("a body of %d bytes", len(j.Body))
	}
	return nil
}

// Failed adds a try that failed and keeps the last KeptHistory.
func (j *Job) Failed(f Failure) {
	j.History = append(j.History, f)
	if extra := len(j.History) - KeptHistory; extra > 0 {
		j.History = append([]Failure(nil), j.History[extra:]...)
	}
}
