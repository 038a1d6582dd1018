package leaky

import (
	"errors"
	"fmt"
	"time"
)

// ErrPolicy is wrapped by what Policy.Validate finds.
var ErrPolicy = errors.New("leaky: retry policy")

// GiveUp is why a job is not tried again; a closed list, fit for a metric label.
type GiveUp string

// Why a job is not tried again.
const (
	KeepTrying   GiveUp = ""         // it is tried again
	GaveAttempts GiveUp = "attempts" // Policy.MaxAttempts were made
	GaveDeadline GiveUp = "deadline" // the next one would start after Policy.Deadline
)

// Policy is how a queue retries a job. The limits work as in Google Cloud Tasks, with one
// difference: here the first limit that is reached ends the job, there both must be.
type Policy struct {
	// MaxAttempts counts every try, the first included. 0 is without limit and needs
	// a Deadline.
	MaxAttempts int
	// Min is the shortest wait before a try; over 0, or a failing job would spin.
	Min time.Duration
	// Max is the longest; at least Min.
	Max time.Duration
	// Deadline is how long after the first try the last one may start. 0 is without limit.
	Deadline time.Duration
}

// Validate reports every mistake at once; the error wraps ErrPolicy.
func (p Policy) Validate() error {
	var found []error
	add := func(bad bool, format string, args ...any) {
		if bad {
			found = append(found, fmt.Errorf("%w: "+format, append([]any{ErrPolicy}, args...)...))
		}
	}
	add(p.MaxAttempts < 0, "max_attempts is %d, want 0 (no limit) or more", p.MaxAttempts)
	add(p.Min <= 0, "min is %v, want more than 0", p.Min)
	add(p.Max < p.Min, "max is %v, less than min, %v", p.Max, p.Min)
	add(p.Deadline < 0, "deadline is %v, want 0 (no limit) or more", p.Deadline)
	add(p.MaxAttempts == 0 && p.Deadline == 0, "neither max_attempts nor deadline: a job that always fails would never end")
	return errors.Join(found...)
}

// Next says when a job is tried again after its attempt-th try (1 is the first) failed at
// now, or why it is not. The wait is drawn evenly between Min and the smaller of Max and
// Min·2^attempt, by random in [0, 1): full jitter as in
// https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/, above a floor,
// because an operator who writes "min: 10s" means it. Every wait that it draws ends by the
// Deadline, so whether a job ends is no matter of luck.
//
// firstTry is when the first try started. If now is before it, because a clock went back,
// no time has passed.
func Next(p Policy, attempt int, firstTry, now time.Time, random float64) (time.Time, GiveUp) {
	if p.MaxAttempts > 0 && attempt >= p.MaxAttempts {
		return time.Time{}, GaveAttempts
	}
	ceiling := ceiling(p, attempt)
	if p.Deadline > 0 {
		left := p.Deadline - elapsed(firstTry, now)
		if left < p.Min {
			return time.Time{}, GaveDeadline
		}
		ceiling = min(ceiling, left)
	}
	// The comparison is written so that NaN counts as 0.
	if !(random > 0) {
		random = 0
	}
	extra := time.Duration(min(random, 1) * float64(ceiling-p.Min))
	if extra < 0 || extra > ceiling-p.Min { // float64 rounded a very long one up
		extra = ceiling - p.Min
	}
	return now.Add(p.Min + extra), KeepTrying
}

// Expired reports whether a job whose first try started at firstTry may not be tried at
// now any more. It is for jobs that a pause holds back: waiting there costs them no
// attempt, and so nothing else would end them. The zero firstTry is a job that was never
// tried, and never expires here.
func (p Policy) Expired(firstTry, now time.Time) bool {
	return p.Deadline > 0 && !firstTry.IsZero() && elapsed(firstTry, now) > p.Deadline
}

// ceiling is min(Max, Min·2^attempt), at least Min, without overflow.
func ceiling(p Policy, attempt int) time.Duration {
	wait := p.Min
	for range attempt {
		if wait > p.Max/2 {
			return max(p.Max, p.Min)
		}
		wait *= 2
	}
	return wait
}

// elapsed is the time from first to now, never negative.
func elapsed(first, now time.Time) time.Duration {
	return max(now.Sub(first), 0)
}
