package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anteroom/anteroom/leaky/bucket"
	"github.com/anteroom/anteroom/leaky/job"
)

// Reviver is what Replay needs of the Ledger.
type Reviver interface {
	// Revive makes a dead job one that may be begun, if it is dead or not known, and says
	// whether it did. It has to be confirmed within hold; after that it is dead again, so
	// that a replay which was killed can be repeated.
	Revive(ctx context.Context, job string, hold time.Duration) (bool, error)
	// Confirm says that a revived job stands in the bucket.
	Confirm(ctx context.Context, job string) error
}

// Filter chooses dead letters; what is not set chooses all.
type Filter struct {
	Reason       string // a part of why it died or of its last failure
	IDs          []string
	Since, Until time.Time // when it died: from Since on, before Until
}

// Matches reports whether a dead letter is chosen.
func (f Filter) Matches(j *job.Job, died time.Time) bool {
	reason := j.Dead
	if n := len(j.History); n > 0 {
		reason += ": " + j.History[n-1].Reason
	}
	return strings.Contains(reason, f.Reason) && (len(f.IDs) == 0 || slices.Contains(f.IDs, j.ID)) &&
		!died.Before(f.Since) && (f.Until.IsZero() || died.Before(f.Until))
}

// Fate is what Replay did with a dead letter that was chosen; a closed list.
type Fate string

// What Replay does with a dead letter.
const (
	Replayed   Fate = "replayed"
	NotDead    Fate = "not dead any more" // replayed before, or delivered
	Unreadable Fate = "unreadable"        // it never was a job that can be sent
)

// replayHold is how long a job may take from being revived to standing in the bucket.
const replayHold = time.Minute

// Replay puts the dead letters of a bucket that f chooses back into their lanes, where they
// leave at the queue's pace, with all their attempts before them and their history behind
// them. The letters stay where they are: the Ledger knows which of them are dead. each is
// told of every letter that is chosen. With dry nothing is changed. It may be repeated after
// any error: no job is replayed twice.
func Replay(ctx context.Context, b bucket.Bucket, l Reviver, f Filter, dry bool, each func(*job.Job, time.Time, Fate)) error {
	var failed error
	_, err := b.Scan(ctx, "", func(_ string, r bucket.Record, put time.Time) bool {
		j, err := job.Decode(r.Value)
		if err != nil || !f.Matches(j, put) {
			return ctx.Err() == nil
		}
		fate := Unreadable
		if j.Dead != deadUnreadable {
			if fate, failed = revive(ctx, b, l, j, dry); failed != nil {
				failed = fmt.Errorf("dispatch: replay of job %s: %w", j.ID, failed)
				return false
			}
		}
		each(j, put, fate)
		return ctx.Err() == nil
	})
	return errors.Join(failed, err, ctx.Err())
}

// revive puts one job back. Only after Revive may it be begun, and only after Put is it safe.
func revive(ctx context.Context, b bucket.Bucket, l Reviver, j *job.Job, dry bool) (Fate, error) {
	if dry {
		return Replayed, nil
	}
	revived, err := l.Revive(ctx, j.ID, replayHold)
	if err != nil || !revived {
		return NotDead, err
	}
	j.Attempts, j.FirstTry, j.Dead, j.NotBefore = 0, time.Time{}, "", time.Time{}
	j.Replays++
	value, err := j.Encode()
	if err != nil {
		return "", err
	}
	if err := b.Put(ctx, j.Lane, bucket.Record{ID: j.ID, Key: j.Key, Value: value}); err != nil {
		return "", err
	}
	return Replayed, l.Confirm(ctx, j.ID)
}
