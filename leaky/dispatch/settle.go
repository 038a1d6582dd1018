package dispatch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/anteroom/anteroom/leaky"
	"github.com/anteroom/anteroom/leaky/bucket"
	"github.com/anteroom/anteroom/leaky/deliver"
	"github.com/anteroom/anteroom/leaky/job"
)

// Why a job is dead, beside leaky.GaveAttempts and leaky.GaveDeadline.
const (
	deadInvalid    = "invalid"
	deadUnreadable = "unreadable"
)

// errQueue means a record that stands in another queue's bucket.
var errQueue = errors.New("dispatch: belongs to another queue")

// open reads what a record holds.
func (d *Dispatcher) open(item *bucket.Item) (*job.Job, error) {
	j, err := job.Decode(item.Value)
	if err == nil && j.Queue != d.cfg.Queue {
		err = fmt.Errorf("%w: %.64q", errQueue, j.Queue)
	}
	return j, err
}

// attempt makes one attempt at its slot and settles what came of it.
func (d *Dispatcher) attempt(ctx context.Context, h *held, permit *leaky.Permit, s slot) {
	inTime := d.awaitSlot(ctx, s, h.began.Add(d.cfg.LeaseMargin/3))
	if !inTime || !d.breaker.StillGood(permit) || h.item.IsLost() {
		d.breaker.Report(permit, leaky.Neutral, 0, "")
		d.unsent(ctx, h, 0, "held back before it was sent")
		return
	}
	began := d.now()
	if h.job.FirstTry.IsZero() {
		h.job.FirstTry = began.UTC().Truncate(time.Millisecond)
	}
	d.metrics.inFlight.Inc()
	result := d.cfg.Deliver.Deliver(ctx, deliver.Delivery{
		ID: h.job.ID, Attempt: h.job.Attempts + 1, URL: d.cfg.URL, Body: h.job.Body, ContentType: h.job.ContentType,
	})
	d.metrics.inFlight.Dec()
	d.metrics.took.Observe(d.now().Sub(began).Seconds())
	if result.Outcome == deliver.Disabled {
		d.disabling.Add(1) // a gate that was read before says nothing any more
		defer d.disabling.Add(-1)
		d.disables.Add(1)
	}
	d.breaker.ReportResult(permit, result)
	d.settle(ctx, h, result)
}

// settle carries out what a result means. ctx ends when the dispatcher must.
func (d *Dispatcher) settle(ctx context.Context, h *held, r deliver.Result) {
	j := h.job
	if r.Outcome.CostsAttempt() {
		j.Attempts++
	}
	switch r.Outcome {
	case deliver.Delivered:
		d.metrics.delivered.Inc()
		d.finish(ctx, h, StateDelivered, "")
	case deliver.Retry:
		j.Failed(job.Failure{At: d.now().UTC().Truncate(time.Millisecond), Status: r.Status, Reason: r.Reason})
		d.again(ctx, h, r.Reason)
	case deliver.Dead:
		j.Failed(job.Failure{At: d.now().UTC().Truncate(time.Millisecond), Reason: r.Reason})
		d.bury(ctx, h, deadInvalid)
	case deliver.Pause:
		d.log.Warn("paused", "for", r.RetryAfter, "reason", r.Reason)
		_ = d.persist(ctx, h, &d.ledgerAway, "pause", func(ctx context.Context) error { return d.cfg.Ledger.Pause(ctx, r.RetryAfter, r.Reason) })
		d.unsent(ctx, h, r.RetryAfter, r.Reason)
	case deliver.Disabled:
		d.log.Error("disabled", "reason", r.Reason)
		_ = d.persist(ctx, h, &d.ledgerAway, "disable", func(ctx context.Context) error { return d.cfg.Ledger.Disable(ctx, r.Reason) })
		d.unsent(ctx, h, 0, r.Reason)
	default: // cancelled: we were told to stop, and whoever comes next tries again
		d.unsent(ctx, h, 0, r.Reason)
	}
}

// unsent keeps a job whose attempt does not count. in is when it is meant to be tried. Of a
// job that was lost meanwhile it ends the lease, for which its new reader waits.
func (d *Dispatcher) unsent(ctx context.Context, h *held, in time.Duration, reason string) {
	_ = d.persist(ctx, nil, &d.ledgerAway, "give back", func(ctx context.Context) error {
		return d.cfg.Ledger.Retry(ctx, h.job.ID, h.job.Attempts, in, reason)
	})
	if h.item.IsLost() {
		d.window.release(h)
		return
	}
	d.window.rest(h, time.Time{})
}

// again has a job tried later, or buries it.
func (d *Dispatcher) again(ctx context.Context, h *held, reason string) {
	j := h.job
	now := d.now()
	at, why := leaky.Next(d.cfg.Retry, j.Attempts, j.FirstTry, now, rand.Float64()) //nolint:gosec // it spreads load, it hides nothing
	if why != leaky.KeepTrying {
		d.bury(ctx, h, string(why))
		return
	}
	retry := func(ctx context.Context) error {
		return d.cfg.Ledger.Retry(ctx, j.ID, j.Attempts, at.Sub(now), reason)
	}
	if j.Key != "" { // what is behind it must not pass
		_ = d.persist(ctx, nil, &d.ledgerAway, "retry", retry)
		d.metrics.retried.Inc()
		d.window.rest(h, at)
		return
	}
	if !d.put(ctx, h, bucket.Later, at) {
		d.unsent(ctx, h, 0, reason)
		return
	}
	d.metrics.retried.Inc()
	_ = d.persist(ctx, h, &d.ledgerAway, "retry", retry)
	d.done(h)
}

// bury moves a job to the dead letters.
func (d *Dispatcher) bury(ctx context.Context, h *held, why string) {
	h.job.Dead = why
	reason := why
	if !d.put(ctx, h, bucket.Dead, time.Time{}) {
		d.unsent(ctx, h, 0, reason)
		return
	}
	if n := len(h.job.History); n > 0 {
		reason += ": " + h.job.History[n-1].Reason
	}
	d.metrics.dead.Inc()
	d.log.Warn("dead letter", "job", h.job.ID, "attempts", h.job.Attempts, "reason", reason)
	d.finish(ctx, h, StateDead, reason)
}

// put keeps a job in another line of the bucket. It reports false when it was not to be:
// the job belongs to another reader, or we end; then it is handed out again.
func (d *Dispatcher) put(ctx context.Context, h *held, line bucket.Line, due time.Time) bool {
	value, err := h.job.Encode()
	if err != nil { // cannot be: it was decoded from such bytes
		d.log.Error("cannot encode", "job", h.job.ID, "error", err)
		return false
	}
	record := bucket.Record{ID: h.job.ID, Key: h.job.Key, Value: value, Due: due}
	err = d.persist(ctx, h, &d.bucketAway, "put", func(ctx context.Context) error { return d.cfg.Bucket.Put(ctx, line, record) })
	return err == nil
}

// finish ends a job for good. What was delivered is done also where the Ledger could not be
// told: better a status that is forgotten than a delivery that is repeated.
func (d *Dispatcher) finish(ctx context.Context, h *held, state State, reason string) {
	_ = d.persist(ctx, nil, &d.ledgerAway, "finish", func(ctx context.Context) error {
		return d.cfg.Ledger.Finish(ctx, h.job.ID, state, h.job.Attempts, reason)
	})
	d.done(h)
}

// errLost means a job that belongs to another reader now.
var errLost = errors.New("dispatch: the job was lost to another reader")

// persistTimeout is how long one try of a step that must be made may take. It is long: a
// write to Kafka that was given up may still arrive, and then stands there twice.
const persistTimeout = 15 * time.Second

// persist repeats a step until it is made, ctx ends, or h, unless nil, is lost.
func (d *Dispatcher) persist(ctx context.Context, h *held, with *outage, what string, do func(context.Context) error) error {
	for {
		if h != nil && h.item.IsLost() {
			return errLost
		}
		timed, cancel := context.WithTimeout(context.WithoutCancel(ctx), persistTimeout)
		err := do(timed)
		cancel()
		d.note(with, what, err)
		if err == nil || errors.Is(err, bucket.ErrTooLarge) || errors.Is(err, bucket.ErrRecord) || errors.Is(err, bucket.ErrClosed) {
			return err
		}
		if errNap := nap(ctx, nil, awayNap); errNap != nil {
			return err
		}
	}
}

// discard moves a record that is no job of this queue to the dead letters, as the body of
// one that says why.
func (d *Dispatcher) discard(ctx context.Context, from bucket.Reader, item *bucket.Item, why error) {
	now := d.now().UTC().Truncate(time.Millisecond)
	j := &job.Job{
		ID: job.NewID(), Queue: d.cfg.Queue, Lane: bucket.Normal, Cost: 1, ContentType: "application/octet-stream",
		Accepted: item.Put.UTC().Truncate(time.Millisecond), Dead: deadUnreadable,
		History: []job.Failure{{At: now, Reason: fmt.Sprintf("line %s, record %.64q: %.400s", item.Line, item.ID, why)}},
		Body:    item.Value[:min(len(item.Value), job.MostBody)],
	}
	h := &held{item: item, reader: from, job: j}
	if !d.put(ctx, h, bucket.Dead, time.Time{}) {
		return
	}
	d.metrics.dead.Inc()
	d.log.Error("unreadable record", "line", item.Line, "record", item.ID, "error", why)
	from.Done(item)
}
