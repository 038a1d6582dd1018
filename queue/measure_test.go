package queue_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/queue"
)

func (s *stage) measure() queue.Measurement {
	s.t.Helper()
	m, err := s.line.Measure(s.t.Context(), s.room)
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

func TestMeasure_CountsHowLongPeopleHadWaited(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		r := quick(1000)
		r.Interval, r.Burst, r.Hold = time.Microsecond, 1000, true // nobody goes straight in
		r.ClaimWindow = 24 * time.Hour
		s := newStage(t, rdb, r)
		tickets := s.join(10)
		waits := []time.Duration{500 * time.Millisecond, 999 * time.Millisecond, 1001 * time.Millisecond, 7 * time.Second, 40001 * time.Millisecond, 5 * time.Hour}
		s.room.Rules.Hold = false
		joined := s.now // places are up to 10 µs later
		for i, wait := range waits {
			for s.now < joined+wait.Microseconds() {
				s.now = min(s.now+(15*time.Second).Microseconds(), joined+wait.Microseconds())
				s.poll(tickets[i:])
			}
			s.room.Rules.Capacity = i + 1
			if got := s.admit(); got.Admitted != 1 {
				t.Fatalf("after %v: %+v", wait, got)
			}
		}
		m := s.measure()
		want := map[int]int64{0: 2, 1: 1, 6: 1, 15: 1, queue.WaitBuckets - 1: 1}
		for i, n := range m.Waits {
			if n != want[i] {
				t.Errorf("bucket %d has %d, want %d", i, n, want[i])
			}
		}
	})
}

func TestMeasure_SamplesWhoIsAway(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		r := quick(1)
		r.Hold = true
		s := newStage(t, rdb, r)
		tickets := s.join(400)
		if m := s.measure(); m.Sampled != queue.Sampled || m.Away != 0 || m.Gone != 0 {
			t.Fatalf("all are there, and it says %+v", m)
		}
		s.advance(r.Heartbeat + time.Minute)
		s.poll(tickets[:200])
		m := s.measure()
		away, errs := m.Silent(400)
		if errs < 5 || errs > 60 || away < 200-2*errs || away > 200+2*errs {
			t.Errorf("200 of 400 are away, and the estimate is %d ± %d", away, errs)
		}
	})
}

func TestMeasure_OfASmallLineIsExact(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		r := quick(1)
		r.Hold = true
		s := newStage(t, rdb, r)
		if m := s.measure(); m.Sampled != 0 {
			t.Fatalf("nobody is there, and it says %+v", m)
		}
		tickets := s.join(50)
		s.advance(r.Heartbeat + time.Minute)
		s.poll(tickets[:20])
		if away, errs := s.measure().Silent(50); away != 30 || errs != 0 {
			t.Errorf("30 of 50 are away, and the estimate is %d ± %d", away, errs)
		}
	})
}

func TestWaits_QuantilesAndDifferences(t *testing.T) {
	t.Parallel()
	var w queue.Waits
	if _, ok := w.Quantile(0.5); ok {
		t.Error("nobody waited, and there is a median")
	}
	w[14] = 100 // 33 s to 40 s
	if q, ok := w.Quantile(0.5); !ok || q < 36*time.Second || q > 37*time.Second {
		t.Errorf("median is %v", q)
	}
	later := w
	later[20] = 100
	if got := later.Since(w); got.Count() != 100 || got[20] != 100 {
		t.Errorf("%v", got)
	}
	if got := w.Since(later); got != w {
		t.Errorf("a count that began anew is all new, got %v", got)
	}
	later[queue.WaitBuckets-1] = 1000
	if q, _ := later.Quantile(0.95); q != 4*time.Hour {
		t.Errorf("p95 is %v, want the last bound", q)
	}
}
