package leaky_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anteroom/anteroom/leaky"
	"github.com/anteroom/anteroom/leaky/deliver"
)

// newDeliverer may call this machine.
func newDeliverer(t *testing.T, timeout time.Duration) *deliver.Deliverer {
	t.Helper()
	d, err := deliver.New(deliver.Config{Unsigned: true, AllowPrivate: true, Timeout: timeout, Concurrency: 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// newReceiver answers the n-th call, from 1, by reply.
func newReceiver(t *testing.T, reply func(w http.ResponseWriter, r *http.Request, n int64)) (url string, calls *atomic.Int64) {
	t.Helper()
	calls = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		reply(w, r, calls.Add(1))
	}))
	t.Cleanup(s.Close)
	return s.URL, calls
}

// The part of the case that is the breaker's and the deliverer's: a destination that hangs
// uses up its own places and then none; the dispatcher's part is that it does not hold the
// partition up.
func TestWH01_AHangingDestinationDelaysOnlyItself(t *testing.T) {
	t.Parallel()
	hanging, hangingCalls := newReceiver(t, func(_ http.ResponseWriter, r *http.Request, _ int64) { <-r.Context().Done() })
	healthy, healthyCalls := newReceiver(t, func(http.ResponseWriter, *http.Request, int64) {})
	d := newDeliverer(t, 300*time.Millisecond)
	breakers := map[string]*leaky.Breaker{
		hanging: leaky.NewBreaker(leaky.BreakerConfig{Concurrency: 10, OpenMin: time.Minute}),
		healthy: leaky.NewBreaker(leaky.BreakerConfig{Concurrency: 10}),
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all, good sync.WaitGroup
	defer all.Wait()
	defer cancel()
	attempt := func(url string) {
		permit, err := breakers[url].Wait(ctx)
		if err != nil {
			return // the test ends
		}
		result := d.Deliver(ctx, deliver.Delivery{ID: "job", Attempt: 1, URL: url})
		breakers[url].ReportResult(permit, result)
	}
	began := time.Now()
	for range 200 {
		all.Go(func() { attempt(hanging) })
		good.Go(func() { attempt(healthy) })
	}
	good.Wait()
	if took := time.Since(began); took > 5*time.Second || healthyCalls.Load() != 200 {
		t.Errorf("the healthy one got %d of 200 in %v", healthyCalls.Load(), took)
	}
	for breakers[hanging].Status().State != leaky.Open {
		if time.Since(began) > 10*time.Second {
			t.Fatalf("the hanging one's breaker is %+v", breakers[hanging].Status())
		}
		time.Sleep(5 * time.Millisecond) // real sockets: there is no clock to move
	}
	for breakers[hanging].Status().InFlight > 0 {
		time.Sleep(5 * time.Millisecond)
	}
	// Ten at first, and at most one more for each of the four that ended before the fifth.
	if n := hangingCalls.Load(); n > 14 {
		t.Errorf("the hanging one was called %d times", n)
	}
}

// 500 jobs wait when the destination begins to answer 429: after the attempts that were
// under way there is one probe a pause, and nobody loses an attempt.
func TestWH07_OneProbeAPauseAndNoAttemptIsLost(t *testing.T) {
	t.Parallel()
	const pauses = 5
	url, _ := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, n int64) {
		if n < 10+pauses {
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	d := newDeliverer(t, 10*time.Second)
	r := newRig(leaky.BreakerConfig{Concurrency: 10})
	attempts := make([]int, 500)
	queue := make([]int, 500)
	for i := range queue {
		queue[i] = i
	}
	var rounds []int
	for len(queue) > 0 {
		permits := r.grab()
		if len(permits) == 0 {
			_, until := r.Acquire()
			if wait := until.Sub(r.now); wait != 2*time.Minute {
				t.Fatalf("paused for %v, want 2m", wait)
			}
			r.now = until
			continue
		}
		rounds = append(rounds, len(permits))
		queue = playRound(d, r, permits, url, queue, attempts)
	}
	if want := []int{10, 1, 1, 1, 1, 1, 2, 4, 8, 10}; !slices.Equal(rounds[:len(want)], want) {
		t.Errorf("attempts at once were %v, want %v", rounds[:len(want)], want)
	}
	for job, n := range attempts {
		if n != 1 {
			t.Errorf("job %d has cost %d attempts, want the one that was delivered", job, n)
		}
	}
}

// playRound makes the attempts that permits allow at once, and returns who still waits.
func playRound(d *deliver.Deliverer, r *rig, permits []*leaky.Permit, url string, queue, attempts []int) []int {
	n := min(len(permits), len(queue))
	results := make([]deliver.Result, n)
	var all sync.WaitGroup
	for i, job := range queue[:n] {
		all.Go(func() {
			results[i] = d.Deliver(context.Background(), deliver.Delivery{ID: "job", Attempt: attempts[job] + 1, URL: url})
		})
	}
	all.Wait()
	var again []int
	for i, result := range results {
		r.ReportResult(permits[i], result)
		if result.Outcome.CostsAttempt() {
			attempts[queue[i]]++
		}
		if result.Outcome != deliver.Delivered {
			again = append(again, queue[i])
		}
	}
	for _, permit := range permits[n:] {
		r.Report(permit, leaky.Neutral, 0, "")
	}
	return append(again, queue[n:]...)
}

// One call, and none after it until an operator says so.
func TestWH07_GoneIsCalledOnce(t *testing.T) {
	t.Parallel()
	url, calls := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int64) { w.WriteHeader(http.StatusGone) })
	d := newDeliverer(t, 10*time.Second)
	b := leaky.NewBreaker(leaky.BreakerConfig{Concurrency: 1})
	for range 20 {
		if permit, _ := b.Acquire(); permit != nil {
			b.ReportResult(permit, d.Deliver(context.Background(), deliver.Delivery{ID: "job", Attempt: 1, URL: url}))
		}
	}
	if s := b.Status(); calls.Load() != 1 || s.State != leaky.Disabled || s.Reason == "" {
		t.Errorf("%d calls, breaker is %+v", calls.Load(), s)
	}
}
