package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anteroom/anteroom/internal/jobreceiver"
	"github.com/anteroom/anteroom/leaky/bucket"
	"github.com/anteroom/anteroom/leaky/bucket/membucket"
	"github.com/anteroom/anteroom/leaky/deliver"
	"github.com/anteroom/anteroom/leaky/dispatch"
	"github.com/anteroom/anteroom/leaky/job"
)

func TestDispatch_EachJobOnceAtThePace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 100)
		w.put(bucket.Normal, "n", 150, nil)
		w.put(bucket.High, "h", 50, nil)
		_, stop := w.run()
		defer stop()
		time.Sleep(time.Minute)
		got := jobreceiver.Summarize(w.target.seen())
		if got.Jobs != 200 || got.Arrivals != 200 || got.Busiest > 100 {
			t.Errorf("%v; want 200 jobs once, at most 100 in a second", got)
		}
		if used := jobreceiver.Used(w.target.seen(), 100); used < 0.999 {
			t.Errorf("used %.4f of the pace", used)
		}
		if n := w.left(bucket.Normal) + w.left(bucket.High) + w.left(bucket.Later); n != 0 {
			t.Errorf("%d jobs are left in the bucket", n)
		}
		if e := w.ledger.look("n0"); e.state != dispatch.StateDelivered || e.attempts != 1 {
			t.Errorf("the ledger knows %+v", e)
		}
	})
}

// Three dispatchers keep the pace of one.
func TestDispatch_ThePaceIsTheQueuesHoweverManyDispatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 100)
		w.put(bucket.Normal, "n", 3000, nil)
		for range 3 {
			_, stop := w.run()
			defer stop()
		}
		time.Sleep(40 * time.Second)
		got := jobreceiver.Summarize(w.target.seen())
		if got.Jobs != 3000 || got.Arrivals != 3000 || got.Busiest > 101 {
			t.Errorf("%v; want 3000 jobs once, at most 101 in a second", got)
		}
		if used := jobreceiver.Used(w.target.seen(), 100); used < 0.99 {
			t.Errorf("used %.4f of the pace", used)
		}
	})
}

// While normal waits, high has three of four and never more; alone it has all.
func TestDispatch_LanesHaveTheirShares(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 100)
		w.cfg.Breaker.Concurrency = 1
		w.put(bucket.Normal, "n", 500, nil)
		w.put(bucket.High, "h", 500, nil)
		_, stop := w.run()
		defer stop()
		time.Sleep(20 * time.Second)
		high := 0
		for i, id := range w.target.ids() {
			if strings.HasPrefix(id, "h") {
				high++
			}
			if n := i + 1; i < 600 && (high > n*3/4+3 || high < n*3/4-3) {
				t.Fatalf("of the first %d jobs %d were high, want three of four", n, high)
			}
		}
		if high != 500 {
			t.Errorf("%d of 500 high jobs arrived", high)
		}
	})
}

func TestDispatch_RetriesByLaterAndBuriesAfterTheLastAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10)
		w.target.answer = func(_ context.Context, d deliver.Delivery) deliver.Result {
			if d.ID == "n0" || d.Attempt < 3 && d.ID == "n1" {
				return failed
			}
			return ok
		}
		w.put(bucket.Normal, "n", 3, nil)
		_, stop := w.run()
		defer stop()
		time.Sleep(time.Second / 2)
		if w.left(bucket.Later) != 2 || w.ledger.look("n0").attempts != 1 {
			t.Errorf("after one failure each, %d jobs stand in later, and the ledger knows %+v", w.left(bucket.Later), w.ledger.look("n0"))
		}
		time.Sleep(time.Minute)
		var attempts []string
		for _, a := range w.target.seen() {
			attempts = append(attempts, fmt.Sprint(a.ID, "/", a.Attempt))
		}
		slices.Sort(attempts)
		if want := []string{"n0/1", "n0/2", "n0/3", "n1/1", "n1/2", "n1/3", "n2/1"}; !slices.Equal(attempts, want) {
			t.Errorf("attempts were %v, want %v", attempts, want)
		}
		dead := w.dead()
		if len(dead) != 1 || dead[0].ID != "n0" || dead[0].Dead != "attempts" || len(dead[0].History) != 3 || dead[0].History[2].Status != 500 {
			t.Errorf("dead letters: %+v", dead)
		}
		if e := w.ledger.look("n0"); e.state != dispatch.StateDead || e.attempts != 3 || e.reason != "attempts: answered 500" {
			t.Errorf("the ledger knows %+v", e)
		}
		if n := w.left(bucket.Normal) + w.left(bucket.Later); n != 0 {
			t.Errorf("%d jobs are left", n)
		}
	})
}

// Of one key the second waits while the first is tried again; of other keys nobody does.
func TestDispatch_KeysKeepTheirOrderThroughRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 100)
		w.target.answer = func(_ context.Context, d deliver.Delivery) deliver.Result {
			time.Sleep(50 * time.Millisecond)
			if d.Attempt < 3 && (d.ID == "a3" || d.ID == "b0") {
				return failed
			}
			return ok
		}
		for _, key := range []string{"a", "b", "c"} {
			w.put(bucket.Normal, key, 8, func(j *job.Job) { j.Key = key })
		}
		for range 2 {
			_, stop := w.run()
			defer stop()
		}
		time.Sleep(time.Minute)
		last := map[string]int{"a": -1, "b": -1, "c": -1}
		for _, a := range w.target.seen() {
			n := int(a.ID[1] - '0')
			if key := a.ID[:1]; n != last[key]+1 && n != last[key] {
				t.Errorf("job %s came after job %d of its key", a.ID, last[key])
			} else {
				last[key] = n
			}
		}
		got := jobreceiver.Summarize(w.target.seen())
		if got.Jobs != 24 || got.Arrivals != 28 {
			t.Errorf("%v; want 24 jobs and 4 retries", got)
		}
		if took := w.target.seen(); took[len(took)-1].At.Sub(took[0].At) < time.Second {
			t.Error("nothing was tried again later")
		}
	})
}

// Cancelled jobs and jobs that are done leave without a delivery, and use up no pace.
func TestDispatch_CancelledAndFinishedJobsAreNotSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10)
		reg := prometheus.NewRegistry()
		w.cfg.Metrics = dispatch.NewMetrics(reg)
		w.put(bucket.Normal, "n", 1000, nil)
		w.ledger.set(func() {
			for i := range 990 {
				if w.ledger.of(fmt.Sprint("n", i)).state = dispatch.StateDelivered; i%2 == 0 {
					*w.ledger.of(fmt.Sprint("n", i)) = entry{cancelled: true}
				}
			}
		})
		_, stop := w.run()
		defer stop()
		time.Sleep(2 * time.Second)
		if got := w.target.ids(); len(got) != 10 {
			t.Errorf("%d jobs arrived within 2 s, want the 10 that are neither: %v", len(got), got)
		}
		if e := w.ledger.look("n0"); e.state != dispatch.StateCancelled {
			t.Errorf("the ledger knows %+v of a cancelled job", e)
		}
		if n := metric(t, reg, "anteroom_jobs_duplicates_total"); n != 495 {
			t.Errorf("%v duplicates were counted, want 495", n)
		}
		if n := w.left(bucket.Normal); n != 0 {
			t.Errorf("%d jobs are left", n)
		}
	})
}

// A dear job that comes by the slot of a cheap one, which was done, pays the difference.
func TestDispatch_DearJobsPayWhatTheyCost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10)
		w.bucket = membucket.New(1)
		w.cfg.Bucket = w.bucket
		n := 0
		w.put(bucket.Normal, "n", 60, func(j *job.Job) {
			if n++; n%2 == 0 {
				j.Cost = 5
			} else {
				w.ledger.of(j.ID).state = dispatch.StateDelivered
			}
		})
		_, stop := w.run()
		defer stop()
		time.Sleep(time.Minute)
		got := jobreceiver.Summarize(w.target.seen())
		if got.Jobs != 30 || got.Shortest < 450*time.Millisecond || got.Took > 16*time.Second {
			t.Errorf("%v; want 30 jobs that cost half a second each", got)
		}
	})
}

// A pause costs no attempt, but no job outlives its deadline in it.
func TestDispatch_ADeadlineEndsInAPauseToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10)
		w.cfg.Retry.Deadline = 5 * time.Minute
		w.target.answer = func(_ context.Context, d deliver.Delivery) deliver.Result {
			if d.ID == "n0" {
				return paused(10 * time.Minute)
			}
			return ok
		}
		w.put(bucket.Normal, "n", 3, nil)
		_, stop := w.run()
		defer stop()
		time.Sleep(30 * time.Minute)
		if dead := w.dead(); len(dead) != 1 || dead[0].ID != "n0" || dead[0].Dead != "deadline" || dead[0].Attempts != 0 {
			t.Errorf("dead letters: %+v", dead)
		}
		if a, b := w.ledger.look("n1"), w.ledger.look("n2"); a.state != dispatch.StateDelivered || b.state != dispatch.StateDelivered {
			t.Errorf("the others: %+v, %+v", a, b)
		}
	})
}

// A job that another works on is asked for again until the other's lease ends.
func TestDispatch_BusyJobsWaitForTheOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10)
		w.put(bucket.Normal, "n", 3, nil)
		w.ledger.set(func() { w.ledger.of("n0").lease = time.Now().Add(20 * time.Second) })
		_, stop := w.run()
		defer stop()
		time.Sleep(19 * time.Second)
		if got := w.target.ids(); len(got) != 2 || slices.Contains(got, "n0") {
			t.Errorf("arrived while the other had its lease: %v", got)
		}
		time.Sleep(3 * time.Second)
		if got := w.target.ids(); len(got) != 3 {
			t.Errorf("arrived after the lease: %v", got)
		}
	})
}

// What is under way when a stop is asked for is finished, what does not end is cut, and
// nothing is lost: the next dispatcher has the rest, at once.
func TestDispatch_StopFinishesWhatIsUnderWayAndGivesBackTheRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10)
		var hung atomic.Bool
		w.target.answer = func(ctx context.Context, d deliver.Delivery) deliver.Result {
			if d.ID == "n1" && !hung.Swap(true) {
				return hang(ctx, 30*time.Second)
			}
			time.Sleep(2 * time.Second)
			return ok
		}
		w.put(bucket.Normal, "n", 20, nil)
		_, stop := w.run()
		time.Sleep(1050 * time.Millisecond)
		asked, sent := time.Now(), len(w.target.seen())
		stop()
		if took := time.Since(asked); took < 9*time.Second || took > 11*time.Second {
			t.Errorf("the stop took %v, want the drain of 10 s that the hanging attempt got", took)
		}
		if n := len(w.target.seen()); n != sent {
			t.Errorf("%d attempts began after the stop", n-sent)
		}
		_, stop = w.run()
		defer stop()
		time.Sleep(time.Minute)
		got := jobreceiver.Summarize(w.target.seen())
		if got.Jobs != 20 || len(got.Duplicates) != 1 || got.Duplicates["n1"] != 1 {
			t.Errorf("%v; want 20 jobs, of which the one that was cut comes twice: %v", got, got.Duplicates)
		}
		if e := w.ledger.look("n1"); e.attempts != 1 {
			t.Errorf("the attempt that was cut counts: %+v", e)
		}
	})
}

// While the ledger is away nothing is sent and nothing is lost; then the pace is as before.
func TestDispatch_HoldsWhileTheLedgerIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10)
		w.target.answer = func(context.Context, deliver.Delivery) deliver.Result { time.Sleep(time.Second); return ok }
		w.put(bucket.Normal, "n", 300, nil)
		d, stop := w.run()
		defer stop()
		time.Sleep(5 * time.Second)
		w.ledger.set(func() { w.ledger.away = true })
		time.Sleep(ready)
		before := len(w.target.seen())
		if err := d.Ready(); !errors.Is(err, dispatch.ErrNotReady) || !strings.Contains(err.Error(), "ledger has been away") {
			t.Errorf("readiness says %v", err)
		}
		time.Sleep(time.Minute)
		if n := len(w.target.seen()); n != before {
			t.Errorf("%d jobs were sent while the ledger was away", n-before)
		}
		w.ledger.set(func() { w.ledger.away = false })
		time.Sleep(time.Minute)
		if err := d.Ready(); err != nil {
			t.Errorf("readiness says %v", err)
		}
		if got := jobreceiver.Summarize(w.target.seen()); got.Jobs != 300 || got.Arrivals != 300 || got.Busiest > 11 {
			t.Errorf("%v; want 300 jobs once, at most 11 in a second", got)
		}
		if n := w.left(bucket.Normal); n != 0 {
			t.Errorf("%d jobs are left", n)
		}
	})
}

// ready is long enough for readiness to turn.
const ready = 10 * time.Second

// A put that fails, also one that was carried out, loses no job.
func TestDispatch_RetriesThatCannotBePutAreNotLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10)
		var puts atomic.Int64
		w.bucket.Fault = func(op string, line bucket.Line) (bool, error) {
			if op != "put" || line != bucket.Later {
				return true, nil
			}
			if n := puts.Add(1); n <= 20 {
				return n%10 == 0, bucket.ErrAway
			}
			return true, nil
		}
		w.target.answer = func(_ context.Context, d deliver.Delivery) deliver.Result {
			if d.Attempt == 1 {
				return failed
			}
			return ok
		}
		w.put(bucket.Normal, "n", 5, nil)
		_, stop := w.run()
		defer stop()
		time.Sleep(2 * time.Minute)
		for i := range 5 {
			if e := w.ledger.look(fmt.Sprint("n", i)); e.state != dispatch.StateDelivered {
				t.Errorf("job n%d: %+v", i, e)
			}
		}
		if got := jobreceiver.Summarize(w.target.seen()); got.Arrivals != 10 {
			t.Errorf("%v; want two attempts a job, whatever was put twice", got)
		}
	})
}

// A rebalance in the middle: whoever gets the partitions sends nothing twice.
func TestDispatch_JobsThatMoveToAnotherReaderAreSentOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 50)
		w.target.answer = func(context.Context, deliver.Delivery) deliver.Result { time.Sleep(700 * time.Millisecond); return ok }
		w.cfg.Breaker.Concurrency = 40
		w.put(bucket.Normal, "n", 600, nil)
		w.put(bucket.Normal, "k", 20, func(j *job.Job) { j.Key = "k" })
		for i := range 4 {
			_, stop := w.run()
			defer stop()
			time.Sleep(time.Duration(1+i) * time.Second)
			w.bucket.Move(bucket.Normal)
		}
		time.Sleep(20 * time.Second) // less than a lease
		if got := jobreceiver.Summarize(w.target.seen()); got.Jobs != 620 || got.Arrivals != 620 || got.Busiest > 51 {
			t.Errorf("%v; want 620 jobs once, at most 51 in a second", got)
		}
		if n := w.left(bucket.Normal); n != 0 {
			t.Errorf("%d jobs are left", n)
		}
	})
}

// A reader that is silent turns readiness and the metric, and back.
func TestDispatch_AStalledReaderTurnsReadiness(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 50)
		reg := prometheus.NewRegistry()
		w.cfg.Metrics = dispatch.NewMetrics(reg)
		d, stop := w.run()
		defer stop()
		time.Sleep(ready)
		w.bucket.Stall(bucket.Normal, time.Now())
		time.Sleep(ready)
		if err := d.Ready(); err == nil || !strings.Contains(err.Error(), "line normal has handed out nothing for 10s") {
			t.Errorf("readiness says %v", err)
		}
		if n := metric(t, reg, "anteroom_jobs_stalled"); n != 1 {
			t.Errorf("the metric says %v", n)
		}
		w.bucket.Stall(bucket.Normal, time.Time{})
		time.Sleep(ready)
		if err := d.Ready(); err != nil {
			t.Errorf("readiness says %v", err)
		}
	})
}

// An operator's hold stops the queue, and its end lets it go on.
func TestDispatch_HeldQueuesSendNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10)
		w.put(bucket.Normal, "n", 100, nil)
		d, stop := w.run()
		defer stop()
		time.Sleep(2 * time.Second)
		w.ledger.set(func() { w.ledger.held = true })
		time.Sleep(time.Second)
		before := len(w.target.seen())
		time.Sleep(time.Minute)
		if n := len(w.target.seen()); n != before || d.Ready() != nil {
			t.Errorf("%d jobs were sent while the queue was held; ready: %v", n-before, d.Ready())
		}
		w.ledger.set(func() { w.ledger.held = false })
		time.Sleep(time.Minute)
		if got := jobreceiver.Summarize(w.target.seen()); got.Jobs != 100 || got.Busiest > 11 {
			t.Errorf("%v", got)
		}
	})
}

func TestNew_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	_, err := dispatch.New(dispatch.Config{High: -1})
	for _, want := range []string{"no name", "rate is 0", "no bucket", "max_attempts"} {
		if !errors.Is(err, dispatch.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("error does not say %q: %v", want, err)
		}
	}
	w := newWorld(t, 1)
	w.cfg.High, w.cfg.Normal = 1, -1
	if _, err := dispatch.New(w.cfg); !errors.Is(err, dispatch.ErrConfig) || !strings.Contains(err.Error(), "lane") {
		t.Errorf("with a share below 0: %v", err)
	}
}

// metric is the value of the only metric of a name.
func metric(t *testing.T, reg *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name && len(f.GetMetric()) == 1 {
			return f.GetMetric()[0].GetCounter().GetValue() + f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}
