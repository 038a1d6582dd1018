package proof_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/leaky/dispatch"
	"github.com/anteroom/anteroom/leaky/dispatch/redisledger"
)

// BenchmarkLedger is what the steps of one job cost in Redis: gate, slot, begin, finish.
func BenchmarkLedger(b *testing.B) {
	l, err := redisledger.New(redistest.Start(b).Client(b), "q", redisledger.Options{Rate: 1e6})
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	for b.Loop() {
		_, errGate := l.Gate(ctx)
		_, errSlot := l.Slot(ctx, 1, 0)
		_, errBegin := l.Begin(ctx, "j", "h", 1e9)
		if errGate != nil || errSlot != nil || errBegin != nil {
			b.Fatal(errGate, errSlot, errBegin)
		}
		if err := l.Retry(ctx, "j", 1, 0, ""); err != nil {
			b.Fatal(err)
		}
		if err := l.Finish(ctx, "k", dispatch.StateDelivered, 1, ""); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkJob is what a job costs in one dispatcher with nothing in its way: a process of
// its own, Redis, the bucket of another process, a receiver that answers at once.
func BenchmarkJob(b *testing.B) {
	var n atomic.Int64
	all := make(chan struct{})
	s := newStage(b, 6, 10e9, func(http.ResponseWriter, *http.Request) {
		if n.Add(1) == int64(b.N) {
			close(all)
		}
	})
	s.task.Rate, s.task.Concurrency, s.task.Timeout, s.task.LeaseMargin = 1e6, 64, 30e9, 30e9
	s.put(b.N)
	p := spawn(b, s.task)
	b.ResetTimer()
	<-all
	b.StopTimer()
	s.settled()
	p.end()
}
