package dispatch_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anteroom/anteroom/internal/jobreceiver"
	"github.com/anteroom/anteroom/leaky"
	"github.com/anteroom/anteroom/leaky/bucket"
	"github.com/anteroom/anteroom/leaky/bucket/membucket"
	"github.com/anteroom/anteroom/leaky/deliver"
	"github.com/anteroom/anteroom/leaky/dispatch"
	"github.com/anteroom/anteroom/leaky/job"
)

// WH-08: idle, restart, hold, rebalance, scale-out: never a burst, and at 10/s no two jobs
// less than 80 ms apart.
func TestWH08_MissedTimeIsNeverPaidBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10)
		_, stop := w.run()
		time.Sleep(time.Minute) // idle
		w.put(bucket.Normal, "n", 1000, nil)
		time.Sleep(10 * time.Second)
		stop()
		time.Sleep(30 * time.Second)
		_, stop = w.run() // restarted
		time.Sleep(10 * time.Second)
		w.ledger.set(func() { w.ledger.held = true })
		time.Sleep(30 * time.Second)
		w.ledger.set(func() { w.ledger.held = false })
		time.Sleep(10 * time.Second)
		w.ledger.set(func() { w.ledger.away = true })
		time.Sleep(30 * time.Second)
		w.ledger.set(func() { w.ledger.away = false })
		time.Sleep(10 * time.Second)
		_, stop2 := w.run() // three of them, which move the partitions
		_, stop3 := w.run()
		time.Sleep(10 * time.Second)
		stop()
		stop2()
		time.Sleep(2 * time.Minute)
		stop3()
		all := w.target.seen()
		got := jobreceiver.Summarize(all)
		if got.Jobs != 1000 || got.Arrivals != 1000 || got.Busiest > 11 || got.Shortest < 80*time.Millisecond {
			t.Errorf("%v; want 1000 jobs once, at most 11 in a second, gaps of 80 ms at least", got)
		}
		if first := all[:90]; jobreceiver.Used(first, 10) < 0.99 {
			t.Errorf("used %.3f of the pace while nothing stood in the way", jobreceiver.Used(first, 10))
		}
	})
}

// slowLedger answers late, as it looks to a process that was stopped or starved.
type slowLedger struct {
	*memLedger
	every, by int64 // every so many slots, by so many ms
	asked     atomic.Int64
}

func (l *slowLedger) Slot(ctx context.Context, cost int64, ahead time.Duration) (dispatch.Slot, error) {
	s, err := l.memLedger.Slot(ctx, cost, ahead)
	if l.asked.Add(1)%l.every == 0 {
		time.Sleep(time.Duration(l.by) * time.Millisecond)
	}
	return s, err
}

// WH-08: a slot that was missed, because the process stood still after it took it, is lost.
func TestWH08_ASlotThatWasMissedIsNotUsedLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10)
		w.cfg.Ledger = &slowLedger{memLedger: w.ledger, every: 7, by: 1900}
		w.put(bucket.Normal, "n", 100, nil)
		for range 3 {
			_, stop := w.run()
			defer stop()
		}
		time.Sleep(2 * time.Minute)
		if got := jobreceiver.Summarize(w.target.seen()); got.Jobs != 100 || got.Shortest < 80*time.Millisecond || got.Busiest > 11 {
			t.Errorf("%v; want 100 jobs, gaps of 80 ms at least", got)
		}
	})
}

// WH-07: a 429 with 500 jobs waiting: one call a pause, and no attempt counts. Two
// dispatchers behave as one.
func TestWH07_APauseCostsOneCallAndNoAttempts(t *testing.T) {
	t.Parallel()
	for _, dispatchers := range []int{1, 2} {
		t.Run(fmt.Sprint(dispatchers), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 100)
				begin := time.Now()
				w.target.answer = func(context.Context, deliver.Delivery) deliver.Result {
					time.Sleep(5 * time.Millisecond)
					if time.Since(begin) < 5*time.Minute {
						return paused(2 * time.Minute)
					}
					return ok
				}
				for range dispatchers {
					_, stop := w.run()
					defer stop()
				}
				time.Sleep(time.Second)
				w.put(bucket.Normal, "n", 500, nil)
				time.Sleep(time.Until(begin.Add(5 * time.Minute)))
				// One at the start, one after each of two pauses; at the start two may be under way.
				if n := len(w.target.seen()); n < 3 || n > 3+1 {
					t.Errorf("%d calls within three pauses, want one each", n)
				}
				for _, a := range w.target.seen() {
					if a.Attempt != 1 {
						t.Errorf("a pause cost job %s an attempt", a.ID)
					}
				}
				time.Sleep(10 * time.Minute)
				for i := range 500 {
					if e := w.ledger.look(fmt.Sprint("n", i)); e.state != dispatch.StateDelivered || e.attempts != 1 {
						t.Fatalf("job n%d after the pauses: %+v, want delivered by its first attempt", i, e)
					}
				}
			})
		})
	}
}

// WH-07: 410 ends all calls of all dispatchers, with a reason, until an operator enables the
// queue; then it begins slowly and loses nothing.
func TestWH07_GoneDisablesUntilAnOperatorEnables(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 100)
		var gone atomic.Bool
		gone.Store(true)
		w.target.answer = func(context.Context, deliver.Delivery) deliver.Result {
			if gone.Load() {
				return deliver.Result{Outcome: deliver.Disabled, Status: 410, Reason: "answered 410 Gone"}
			}
			return ok
		}
		w.put(bucket.Normal, "n", 100, nil)
		d, stop := w.run()
		defer stop()
		_, stop2 := w.run()
		defer stop2()
		time.Sleep(time.Hour)
		calls := len(w.target.seen())
		if s := d.Breaker(); calls > 3 || s.State != leaky.Disabled || s.Reason != "answered 410 Gone" || d.Ready() != nil {
			t.Errorf("%d calls; %+v; ready: %v", calls, s, d.Ready())
		}
		gone.Store(false)
		w.ledger.set(func() { w.ledger.disabled = "" })
		time.Sleep(time.Minute)
		if got := jobreceiver.Summarize(w.target.seen()[calls:]); got.Jobs != 100 || got.Arrivals != 100 {
			t.Errorf("after it was enabled: %v", got)
		}
		if s := d.Breaker(); s.State != leaky.Closed {
			t.Errorf("%+v", s)
		}
	})
}

// slowDisable takes its time to note that the destination is gone.
type slowDisable struct{ *memLedger }

func (l slowDisable) Disable(ctx context.Context, reason string) error {
	time.Sleep(2 * time.Second)
	return l.memLedger.Disable(ctx, reason)
}

// WH-07: a gate that is read before the ledger knows of a 410 does not enable what the 410
// has just disabled.
func TestWH07_GoneHoldsBeforeTheLedgerKnows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 100)
		w.cfg.Ledger = slowDisable{w.ledger}
		w.target.answer = func(context.Context, deliver.Delivery) deliver.Result {
			return deliver.Result{Outcome: deliver.Disabled, Status: 410, Reason: "answered 410 Gone"}
		}
		w.put(bucket.Normal, "n", 100, nil)
		_, stop := w.run()
		defer stop()
		time.Sleep(time.Minute)
		if n := len(w.target.seen()); n != 1 {
			t.Errorf("%d calls, want 1", n)
		}
	})
}

// KF-02: jobs in hand that move to another reader during a pause make room at once.
func TestKF02_LostJobsLeaveTheWindowDuringAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 100)
		w.target.answer = func(context.Context, deliver.Delivery) deliver.Result { return paused(time.Hour) }
		w.put(bucket.Normal, "n", 100, nil)
		w.put(bucket.Normal, "k", 100, func(j *job.Job) { j.Key = "k" })
		d, stop := w.run()
		defer stop()
		time.Sleep(time.Minute)
		if n := d.InHand(); n != 200 {
			t.Errorf("%d jobs are in hand, want 200", n)
		}
		other, err := w.bucket.Open(bucket.Normal) // takes the second of three partitions
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if n := d.InHand(); n >= 180 || n == 0 {
			t.Errorf("%d jobs are in hand after a third of the partitions went", n)
		}
		if err := other.Close(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		if n := d.InHand(); n != 200 {
			t.Errorf("%d jobs are in hand after they came back, want 200", n)
		}
	})
}

// WH-01: one queue's destination hangs for 30 s; the other in the same process finishes
// within a tenth of its ideal time, and what is in hand stays bounded.
func TestWH01_AHangingDestinationDelaysOnlyItsOwnJobs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hangs, works := newWorld(t, 50), newWorld(t, 50)
		hangs.target.answer = func(ctx context.Context, _ deliver.Delivery) deliver.Result { return hang(ctx, 30*time.Second) }
		works.target.answer = func(context.Context, deliver.Delivery) deliver.Result {
			time.Sleep(10 * time.Millisecond)
			return ok
		}
		body := []byte(strings.Repeat("x", job.MostBody))
		hangs.put(bucket.Normal, "a", 1000, func(j *job.Job) { j.Body = body })
		works.put(bucket.Normal, "b", 1000, nil)
		d, stop := hangs.run()
		defer stop()
		_, stop2 := works.run()
		defer stop2()
		time.Sleep(22 * time.Second) // the ideal is 20 s
		if got := jobreceiver.Summarize(works.target.seen()); got.Jobs != 1000 || got.Took > 22*time.Second {
			t.Errorf("the healthy one: %v; want 1000 jobs within 22 s", got)
		}
		time.Sleep(5 * time.Minute)
		if s := d.Breaker(); s.State == leaky.Closed {
			t.Errorf("the breaker of the hanging one is %+v", s)
		}
		if n := d.InHand(); n > 2*dispatch.MostHeld/job.MostBody+10 {
			t.Errorf("%d jobs of 256 KiB are in hand, want at most 8 MiB a line", n)
		}
	})
}

// dying is a dispatcher's ledger; after the kill it answers nothing, as to a dead process.
type dying struct {
	*memLedger
	dead atomic.Bool
}

func (l *dying) Finish(ctx context.Context, id string, s dispatch.State, n int, reason string) error {
	if l.dead.Load() {
		return errAway
	}
	return l.memLedger.Finish(ctx, id, s, n, reason)
}

func (l *dying) Slot(ctx context.Context, cost int64, ahead time.Duration) (dispatch.Slot, error) {
	if l.dead.Load() {
		return dispatch.Slot{}, errAway
	}
	return l.memLedger.Slot(ctx, cost, ahead)
}

func (l *dying) Retry(ctx context.Context, id string, n int, in time.Duration, reason string) error {
	if l.dead.Load() {
		return errAway
	}
	return l.memLedger.Retry(ctx, id, n, in, reason)
}

// KF-01: jobs 0 to 9 of one partition, job 3 hangs, the dispatcher dies. The next sends job
// 3 and no other: what lies below the commit is not handed out, the rest is known to be done.
func TestKF01_AfterAKillOnlyTheHangingJobIsSentAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10)
		w.bucket = membucket.New(1)
		w.cfg.Bucket = w.bucket
		var dead atomic.Bool
		w.target.answer = func(ctx context.Context, d deliver.Delivery) deliver.Result {
			if d.ID == "n3" && !dead.Load() {
				return hang(ctx, time.Hour)
			}
			return ok
		}
		w.put(bucket.Normal, "n", 10, nil)
		ledger := &dying{memLedger: w.ledger}
		w.cfg.Ledger = ledger
		_, stop := w.run()
		time.Sleep(5 * time.Second)
		dead.Store(true)
		ledger.dead.Store(true)
		w.bucket.Move(bucket.Normal)
		stop()
		if n := w.left(bucket.Normal); n != 7 {
			t.Errorf("%d jobs are not below the commit, want 3 to 9", n)
		}
		before := len(w.target.seen())
		w.cfg.Ledger = w.ledger
		_, stop = w.run()
		defer stop()
		time.Sleep(2 * time.Minute)
		if again := w.target.ids()[before:]; before != 10 || !slices.Equal(again, []string{"n3"}) {
			t.Errorf("after the kill %v were sent, want job 3 alone", again)
		}
		if n := w.left(bucket.Normal); n != 0 {
			t.Errorf("%d jobs are left", n)
		}
	})
}

// KF-02: one job a minute, each takes seven; readers come and go. No job is sent twice, and
// the lag falls.
func TestKF02_SlowJobsThroughRebalancesAreSentOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1.0/60)
		w.cfg.Timeout, w.cfg.Drain = 10*time.Minute, 8*time.Minute
		w.target.answer = func(context.Context, deliver.Delivery) deliver.Result { time.Sleep(7 * time.Minute); return ok }
		w.put(bucket.Normal, "n", 40, nil)
		for range 2 {
			_, stop := w.run()
			defer stop()
		}
		for range 3 {
			time.Sleep(3 * time.Minute)
			_, stop := w.run()
			time.Sleep(3 * time.Minute)
			stop()
		}
		time.Sleep(time.Hour)
		if got := jobreceiver.Summarize(w.target.seen()); got.Jobs != 40 || got.Arrivals != 40 || got.Shortest < 55*time.Second {
			t.Errorf("%v; want 40 jobs once, a minute apart", got)
		}
		if n := w.left(bucket.Normal); n != 0 {
			t.Errorf("%d jobs are left", n)
		}
	})
}

// KF-05: what no intake would have written goes to the dead letters with a reason, and the
// jobs among it are delivered.
func TestKF05_UnreadableRecordsGoToTheDeadLetters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 100)
		foreign := &job.Job{ID: "f", Queue: "other", Lane: bucket.Normal, Cost: 1, Body: []byte("x")}
		value, err := foreign.Encode()
		if err != nil {
			t.Fatal(err)
		}
		w.put(bucket.Normal, "n", 25, nil)
		w.bucket.Raw(bucket.Normal, "raw", []byte("\x00\xffraw bytes"))
		w.bucket.Raw(bucket.High, "", nil)
		w.bucket.Raw(bucket.Normal, "schema", []byte("anteroom-job 1\n{\"id\":7}\nbody"))
		w.bucket.Raw(bucket.Later, "foreign", value)
		w.put(bucket.Normal, "m", 25, nil)
		d, stop := w.run()
		defer stop()
		time.Sleep(10 * time.Second)
		if got := jobreceiver.Summarize(w.target.seen()); got.Jobs != 50 || got.Arrivals != 50 {
			t.Errorf("%v; want the 50 good jobs", got)
		}
		var reasons []string
		for _, j := range w.dead() {
			if j.Dead != "unreadable" || j.Queue != "q" || len(j.History) != 1 {
				t.Errorf("a dead letter is %+v", j)
				continue
			}
			reasons = append(reasons, j.History[0].Reason)
		}
		slices.Sort(reasons)
		for i, want := range []string{`line high, record "": `, `record "foreign": `, `record "raw": `, `record "schema": `} {
			if len(reasons) != 4 || !strings.Contains(reasons[i], want) {
				t.Fatalf("reasons are %q, want one that says %s", reasons, want)
			}
		}
		for _, line := range []bucket.Line{bucket.High, bucket.Normal, bucket.Later} {
			if n := w.left(line); n != 0 || d.Ready() != nil {
				t.Errorf("%d records are left in %s; ready: %v", n, line, d.Ready())
			}
		}
	})
}
