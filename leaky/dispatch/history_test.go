package dispatch_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anteroom/anteroom/internal/jobreceiver"
	"github.com/anteroom/anteroom/leaky"
	"github.com/anteroom/anteroom/leaky/bucket"
	"github.com/anteroom/anteroom/leaky/deliver"
	"github.com/anteroom/anteroom/leaky/dispatch"
	"github.com/anteroom/anteroom/leaky/job"
)

// Dispatchers come and go, partitions move, the ledger and the bucket fail, the destination
// fails, pauses and hangs: every job ends in one way, no second has more than the rate, and
// of a key no job passes another.
func TestDispatch_RandomHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { play(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

// chance is a source of chance that many goroutines draw from.
type chance struct {
	mu sync.Mutex
	r  *rand.Rand
}

func (c *chance) n(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.r.IntN(n)
}

func play(t *testing.T, r *rand.Rand) {
	const rate, jobs = 20, 200
	w, luck := newWorld(t, rate), &chance{r: r}
	w.cfg.Drain = 5 * time.Second
	w.cfg.Retry = leaky.Policy{MaxAttempts: 4, Min: time.Second, Max: 10 * time.Second}
	var took sync.Map // by the destination
	w.target.answer = func(ctx context.Context, d deliver.Delivery) deliver.Result {
		result := answer(ctx, luck)
		if result.Outcome == deliver.Delivered {
			took.Store(d.ID, true)
		}
		return result
	}
	w.bucket.Fault = func(op string, _ bucket.Line) (bool, error) {
		if op == "put" && luck.n(10) == 0 {
			return luck.n(2) == 0, bucket.ErrAway
		}
		return true, nil
	}
	for i := range jobs {
		change := func(j *job.Job) {
			if i%3 == 0 {
				j.Key = fmt.Sprint("key", i%5)
			}
			j.Cost = int64(1 + i%2)
		}
		for !w.tryPut(fmt.Sprintf("j%03d-", i), change) {
		}
	}
	stops := map[int]func(){}
	for i := range 30 {
		switch at := luck.n(4); luck.n(4) {
		case 0, 1:
			if stops[at] == nil {
				_, stops[at] = w.run()
			}
		case 2:
			if stops[at] != nil {
				stops[at]()
				stops[at] = nil
			}
		default:
			w.bucket.Move([]bucket.Line{bucket.High, bucket.Normal, bucket.Later}[luck.n(3)])
			w.ledger.set(func() { w.ledger.away = i%4 == 0 })
		}
		time.Sleep(time.Duration(luck.n(4000)) * time.Millisecond)
	}
	w.ledger.set(func() { w.ledger.away = false })
	_, stops[9] = w.run()
	time.Sleep(2 * time.Hour) // the breaker takes its time where one of five fails
	for _, stop := range stops {
		if stop != nil {
			stop()
		}
	}
	w.judge(rate, jobs, func(id string) bool { _, is := took.Load(id); return is })
}

// answer is a destination that mostly works.
func answer(ctx context.Context, luck *chance) deliver.Result {
	time.Sleep(time.Duration(luck.n(300)) * time.Millisecond)
	switch luck.n(20) {
	case 0, 1:
		return failed
	case 2:
		return paused(time.Duration(luck.n(3000)) * time.Millisecond)
	case 3:
		return hang(ctx, 30*time.Second)
	}
	return ok
}

// tryPut puts one job, and reports false when the bucket says that it may have failed.
func (w *world) tryPut(id string, change func(*job.Job)) bool {
	j := &job.Job{ID: id, Queue: "q", Tenant: "t", Lane: bucket.Normal, Accepted: time.Now().UTC(), Body: []byte("body")}
	change(j)
	value, err := j.Encode()
	if err != nil {
		w.t.Fatal(err)
	}
	return w.bucket.Put(context.Background(), bucket.Normal, bucket.Record{ID: id, Key: j.Key, Value: value}) == nil
}

// judge holds what arrived to the promises.
func (w *world) judge(rate, jobs int, delivered func(id string) bool) {
	w.t.Helper()
	for id, e := range w.ledger.jobs {
		if e.state == "" && delivered(id) {
			continue // delivered, and stopped while the ledger was away: the status is forgotten
		}
		if e.state != dispatch.StateDelivered && e.state != dispatch.StateDead {
			w.t.Errorf("job %s ended as %q after %d attempts: %s", id, e.state, e.attempts, e.reason)
		}
	}
	if n := len(w.ledger.jobs); n != jobs {
		w.t.Errorf("the ledger knows %d jobs, want %d", n, jobs)
	}
	all := w.target.seen()
	if got := jobreceiver.Summarize(all); got.Jobs != jobs || got.Busiest > rate+1 {
		w.t.Errorf("%v; want %d jobs, at most %d in a second", got, jobs, rate+1)
	}
	last := map[string]string{}
	for _, a := range all {
		var n int
		if _, err := fmt.Sscanf(a.ID, "j%d-", &n); err != nil || n%3 != 0 {
			continue
		}
		key := fmt.Sprint(n % 5)
		if strings.Compare(a.ID, last[key]) < 0 {
			w.t.Errorf("job %s of key %s came after job %s", a.ID, key, last[key])
		}
		last[key] = a.ID
	}
	for _, line := range []bucket.Line{bucket.High, bucket.Normal, bucket.Later} {
		if n := w.left(line); n != 0 {
			w.t.Errorf("%d jobs are left in %s", n, line)
		}
	}
}
