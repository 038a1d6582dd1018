package proof_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
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
	t        testing.TB
	bucket   *membucket.Bucket
	server   *redistest.Server
	redis    *redis.Client
	receiver *jobreceiver.Receiver
	task     task
}

func newStage(t testing.TB, partitions int, session time.Duration, answer http.HandlerFunc) *stage {
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
	s := &stage{t: t, bucket: membucket.New(partitions), server: server, redis: server.Client(t), receiver: receiver}
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
