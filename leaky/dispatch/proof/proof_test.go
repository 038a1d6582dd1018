package proof_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/jobreceiver"
	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/leaky/bucket"
	"github.com/anteroom/anteroom/leaky/bucket/membucket"
	"github.com/anteroom/anteroom/leaky/bucket/membucket/remote"
	"github.com/anteroom/anteroom/leaky/job"
)

// stage is a queue with its bucket, its Redis and its receiver; dispatchers are processes.
type stage struct {
	t        *testing.T
	bucket   *membucket.Bucket
	redis    *redis.Client
	receiver *jobreceiver.Receiver
	task     task
}

func newStage(t *testing.T, partitions int, session time.Duration, answer http.HandlerFunc) *stage {
	t.Helper()
	server := redistest.Start(t)
	receiver, err := jobreceiver.New(secret, answer)
	if err != nil {
		t.Fatal(err)
	}
	far := httptest.NewServer(receiver)
	t.Cleanup(far.Close)
	dir, err := os.MkdirTemp("", "proof") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, bucket: membucket.New(partitions), redis: server.Client(t), receiver: receiver}
	served := make(chan struct{})
	go func() {
		remote.Serve(listener, s.bucket, session)
		close(served)
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-served
	})
	s.task = task{Queue: "q", URL: far.URL, Redis: server.Socket(), Bucket: listener.Addr().String()}
	return s
}

func (s *stage) put(n int) {
	s.t.Helper()
	for i := range n {
		j := &job.Job{ID: fmt.Sprintf("job%05d", i), Queue: "q", Tenant: "t", Lane: bucket.Normal, Cost: 1, Accepted: time.Now().UTC(), Body: []byte(`{"hello":"world"}`)}
		value, err := j.Encode()
		if err != nil {
			s.t.Fatal(err)
		}
		if err := s.bucket.Put(s.t.Context(), bucket.Normal, bucket.Record{ID: j.ID, Value: value}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// play is a run of TestPace, its times counted from the first arrival.
type play struct {
	jobs                                  int
	scaleOut, stop, resume, kill, scaleIn time.Duration
	session, timeout, margin              time.Duration
	used                                  float64 // at least so much of the pace
	busiest                               int     // at most so many in a second
}

const rate = 100

// The receiver of a queue at 100 a second sees that pace and no more through 1, 3 and again
// 1 dispatchers, of which one is stopped (SIGSTOP) for a while and one is killed (SIGKILL).
// ANTEROOM_PROOF=long is the run of 80 s that holds the figures of the design; the short
// one leaves room for a machine that has other things to do.
func TestPace_ThroughScaleOutAStopAndAKill(t *testing.T) {
	p := play{
		jobs: 1000, scaleOut: time.Second, stop: 2 * time.Second, resume: 3500 * time.Millisecond, kill: 5 * time.Second, scaleIn: 6 * time.Second,
		session: time.Second, timeout: 3 * time.Second, margin: 3 * time.Second, used: 0.9, busiest: rate + rate/10,
	}
	if os.Getenv("ANTEROOM_PROOF") == "long" {
		p = play{
			jobs: 8000, scaleOut: 10 * time.Second, stop: 15 * time.Second, resume: 25 * time.Second, kill: 30 * time.Second, scaleIn: 45 * time.Second,
			session: 6 * time.Second, timeout: 15 * time.Second, margin: 30 * time.Second, used: 0.99, busiest: rate + 1,
		}
	} else if testing.Short() {
		t.Skip("takes 15 s")
	}
	s := newStage(t, 6, p.session, func(http.ResponseWriter, *http.Request) {
		time.Sleep(time.Duration(5+rand.IntN(40)) * time.Millisecond)
	})
	s.task.Rate, s.task.Concurrency, s.task.Timeout, s.task.LeaseMargin = rate, 20, p.timeout, p.margin
	s.put(p.jobs)
	killed := s.act(p)
	all := s.receiver.Arrivals()
	got := jobreceiver.Summarize(all)
	busy := all[:min(len(all), p.jobs-2*s.task.Concurrency)] // what the killed one had under way comes last
	used := jobreceiver.Used(busy, rate)
	t.Logf("%v; used %.2f %% of the pace", got, 100*used)
	if got.Jobs != p.jobs || got.Forged != 0 {
		t.Errorf("%d of %d jobs arrived, %d signatures are not valid", got.Jobs, p.jobs, got.Forged)
	}
	if got.Busiest > p.busiest || used < p.used {
		t.Errorf("busiest second %d, at most %d is promised; used %.4f of the pace, %.2f is promised", got.Busiest, p.busiest, used, p.used)
	}
	s.onlyFromTheKill(all, killed)
}

// act plays p and waits for the last job. It gives the moment of the kill.
func (s *stage) act(p play) (killed time.Time) {
	s.t.Helper()
	a := spawn(s.t, s.task)
	if !s.receiver.Await(30*time.Second, func(all []jobreceiver.Arrival) bool { return len(all) > 0 }) {
		s.t.Fatal("nothing arrived within 30 s")
	}
	start := s.receiver.Arrivals()[0].At
	at := func(d time.Duration) { time.Sleep(time.Until(start.Add(d))) }
	at(p.scaleOut)
	b, c := spawn(s.t, s.task), spawn(s.t, s.task)
	at(p.stop)
	b.signal(syscall.SIGSTOP)
	at(p.resume)
	b.signal(syscall.SIGCONT)
	at(p.kill)
	c.kill()
	killed = time.Now()
	at(p.scaleIn)
	b.end()
	if !s.receiver.Await(3*time.Minute, func(all []jobreceiver.Arrival) bool {
		return len(all) >= p.jobs && jobreceiver.Jobs(all) == p.jobs
	}) {
		s.t.Errorf("%d of %d jobs arrived", jobreceiver.Jobs(s.receiver.Arrivals()), p.jobs)
	}
	s.settled()
	a.end()
	return killed
}

// settled waits until the bucket holds no job that is not done.
func (s *stage) settled() {
	s.t.Helper()
	s.await("every job to be done", func() bool { return s.left() == 0 })
}

// left is how many jobs the bucket holds.
func (s *stage) left() int64 {
	s.t.Helper()
	all, err := s.bucket.Backlog(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return all[bucket.High].Records + all[bucket.Normal].Records + all[bucket.Later].Records
}

// await waits for what nothing tells of.
func (s *stage) await(what string, is func() bool) {
	s.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(2 * time.Minute)
	for !is() {
		select {
		case <-deadline:
			s.t.Fatalf("waited in vain for %s; the bucket holds %d jobs", what, s.left())
		case <-tick.C:
		}
	}
}

// onlyFromTheKill holds each job that came twice to having been under way when the kill came.
func (s *stage) onlyFromTheKill(all []jobreceiver.Arrival, killed time.Time) {
	s.t.Helper()
	first := map[string]time.Time{}
	twice := 0
	for _, a := range all {
		came, seen := first[a.ID]
		if !seen {
			first[a.ID] = a.At
			continue
		}
		twice++
		if came.After(killed) || killed.Sub(came) > time.Second || a.At.Before(killed) {
			s.t.Errorf("job %s came %v before the kill and again %v after it", a.ID, killed.Sub(came), a.At.Sub(killed))
		}
	}
	if twice > s.task.Concurrency {
		s.t.Errorf("%d jobs came twice, more than the killed dispatcher could have under way", twice)
	}
}

// One partition, ten jobs, the fourth hangs, the dispatcher is killed: the next sends the
// fourth again and no other (KF-01).
func TestKF01_AKilledDispatcherLosesNothingAndRepeatsOnlyWhatHung(t *testing.T) {
	t.Parallel()
	var hung atomic.Bool
	release := make(chan struct{})
	s := newStage(t, 1, time.Second, nil)
	answer := func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Webhook-Id") == "job00003" && !hung.Swap(true) {
			<-release
		}
	}
	far, receiver := listen(t, answer)
	s.receiver, s.task.URL = receiver, far.URL
	t.Cleanup(func() { close(release) })
	s.task.Rate, s.task.Concurrency, s.task.Timeout, s.task.LeaseMargin = 50, 5, 3*time.Second, 2*time.Second
	s.put(10)
	p := spawn(t, s.task)
	s.await("the fourth job alone to be under way, and three below the commit", func() bool {
		held, err := s.redis.ZCard(t.Context(), "anteroom:{q:q}:held").Result()
		return err == nil && held == 1 && jobreceiver.Jobs(s.receiver.Arrivals()) == 10 && s.left() == 7
	})
	p.kill()
	before := len(s.receiver.Arrivals())
	p = spawn(t, s.task)
	s.settled()
	p.end()
	var again []string
	for _, a := range s.receiver.Arrivals()[before:] {
		again = append(again, a.ID)
	}
	if !slices.Equal(again, []string{"job00003"}) {
		t.Errorf("after the kill %v came, want the fourth job alone", again)
	}
}

// listen makes a receiver that answers by answer.
func listen(t *testing.T, answer http.HandlerFunc) (*httptest.Server, *jobreceiver.Receiver) {
	t.Helper()
	receiver, err := jobreceiver.New(secret, answer)
	if err != nil {
		t.Fatal(err)
	}
	far := httptest.NewServer(receiver)
	t.Cleanup(far.Close)
	return far, receiver
}
