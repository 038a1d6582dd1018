package dispatch_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/jobreceiver"
	"github.com/anteroom/anteroom/leaky/bucket"
	"github.com/anteroom/anteroom/leaky/deliver"
)

const secret = deliver.Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")

// overHTTP makes the world's destination a real receiver.
func (w *world) overHTTP(t testing.TB, answer http.HandlerFunc) *jobreceiver.Receiver {
	t.Helper()
	r, err := jobreceiver.New(secret, answer)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	d, err := deliver.New(deliver.Config{Secrets: []deliver.Secret{secret}, AllowPrivate: true, Concurrency: w.cfg.Breaker.Concurrency})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	w.cfg.URL, w.cfg.Deliver = server.URL, d
	return r
}

// Real time, real HTTP, a real signature on every job. How evenly jobs come depends on the
// machine; that none comes early does not.
func TestDispatch_OverHTTPEachJobOnceAndSigned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 200)
	r := w.overHTTP(t, nil)
	w.put(bucket.Normal, "n", 300, nil)
	for range 2 {
		_, stop := w.run()
		defer stop()
	}
	r.Await(time.Minute, func(all []jobreceiver.Arrival) bool { return jobreceiver.Jobs(all) == 300 })
	got := jobreceiver.Summarize(r.Arrivals())
	if got.Jobs != 300 || got.Arrivals != 300 || got.Forged != 0 || got.Took < 1400*time.Millisecond {
		t.Errorf("%v; want 300 jobs once, signed, in 1.5 s at the least", got)
	}
	t.Log(got, "used", jobreceiver.Used(r.Arrivals(), 200))
}

// BenchmarkDispatch is what a job costs from the bucket to the answer, with a receiver on
// loopback that answers at once, a ledger in memory, and no pace in the way. "bare" is the
// same deliveries without bucket, window, ledger and breaker.
func BenchmarkDispatch(b *testing.B) {
	const concurrency = 64
	far := func(b *testing.B, w *world) (all chan struct{}) {
		var n atomic.Int64
		all = make(chan struct{})
		w.cfg.Breaker.Concurrency = concurrency
		w.overHTTP(b, func(http.ResponseWriter, *http.Request) {
			if n.Add(1) == int64(b.N) {
				close(all)
			}
		})
		b.ReportAllocs()
		return all
	}
	b.Run("dispatched", func(b *testing.B) {
		w := newWorld(b, 1e9)
		all := far(b, w)
		w.put(bucket.Normal, "n", b.N, nil)
		b.ResetTimer()
		_, stop := w.run()
		<-all
		b.StopTimer()
		stop()
	})
	b.Run("bare", func(b *testing.B) {
		w := newWorld(b, 1e9)
		all := far(b, w)
		b.SetParallelism(concurrency / runtime.GOMAXPROCS(0))
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				w.cfg.Deliver.Deliver(b.Context(), deliver.Delivery{ID: "n1", Attempt: 1, URL: w.cfg.URL, Body: []byte("body")})
			}
		})
		<-all
	})
}
