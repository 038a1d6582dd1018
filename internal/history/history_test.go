package history_test

import (
	"context"
	"log/slog"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/admission"
	"github.com/anteroom/anteroom/internal/history"
	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/queue"
)

func TestMain(m *testing.M) { redistest.Main(m) }

func point(at time.Time, admitted int64) history.Point {
	p := history.Point{
		At: at, State: "open", Waiting: 7, Silent: 3, SilentErr: 1, Active: 5, Capacity: 10, Interval: 333_334 * time.Microsecond,
		Oldest: time.Minute, Promised: admission.ETA{Low: time.Second, High: time.Minute}, Latency: 250 * time.Microsecond, Held: true,
		Counters: queue.Counters{Joined: 1, Admitted: admitted, Claimed: 3, NoShows: 4, Expired: 5, Left: 6, Aside: 7, Dropped: 8, Retaken: 9},
	}
	p.Waits[3], p.Waits[queue.WaitBuckets-1] = admitted, 2
	return p
}

func TestStore_GivesBackWhatItTook(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s, room := history.NewStore(rdb), redistest.RoomName(t)
		now := time.UnixMilli(1_764_571_860_000) // on a five-minute mark
		want := point(now, 2)
		if err := s.Add(t.Context(), room, want); err != nil {
			t.Fatal(err)
		}
		for _, span := range history.Spans() {
			got, err := s.Load(t.Context(), room, span, now)
			if err != nil || len(got) != 1 || !got[0].At.Equal(now.Truncate(span.Step)) {
				t.Fatalf("%s: %+v, %v", span.Name, got, err)
			}
			got[0].At = want.At
			if !reflect.DeepEqual(got[0], want) {
				t.Errorf("%s: got %+v, want %+v", span.Name, got[0], want)
			}
		}
	})
}

func TestStore_ABucketHasOnePointHoweverManyRecord(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s, room := history.NewStore(rdb), redistest.RoomName(t)
		start := time.UnixMilli(1_764_571_800_000)
		var wg sync.WaitGroup
		for recorder := range 4 {
			wg.Go(func() {
				for i := range 60 { // five minutes, a point a second and a bit
					at := start.Add(time.Duration(i)*5*time.Second + time.Duration(recorder)*700*time.Millisecond)
					if err := s.Add(t.Context(), room, point(at, int64(i))); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		end := start.Add(5 * time.Minute)
		for span, want := range map[history.Span]int{history.QuarterHour: 60, history.ThreeHours: 10, history.Day: 1} {
			got, err := s.Load(t.Context(), room, span, end)
			if err != nil || len(got) > want || len(got) < want/2 {
				t.Errorf("%s has %d points, want about %d: %v", span.Name, len(got), want, err)
			}
			for i := 1; i < len(got); i++ {
				if !got[i].At.After(got[i-1].At) {
					t.Errorf("%s: point %d is not later than the one before", span.Name, i)
				}
			}
		}
	})
}

func TestStore_IsBounded(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s, room := history.NewStore(rdb), redistest.RoomName(t)
		start := time.UnixMilli(1_764_571_800_000)
		for i := range 500 {
			if err := s.Add(t.Context(), room, point(start.Add(time.Duration(i)*5*time.Second), 1)); err != nil {
				t.Fatal(err)
			}
		}
		if n := rdb.XLen(t.Context(), "anteroom:{"+room+"}:history:15m").Val(); n != 181 {
			t.Errorf("%d points are kept, want 181", n)
		}
		if ttl := rdb.TTL(t.Context(), "anteroom:{"+room+"}:history:15m").Val(); ttl <= 0 {
			t.Errorf("the history has no end: TTL %v", ttl)
		}
	})
}

func TestBetween_TellsNothingAcrossALoss(t *testing.T) {
	t.Parallel()
	at := time.Now()
	a, b := point(at, 100), point(at.Add(30*time.Second), 160)
	f, ok := history.Between(a, b)
	if !ok || f.PerMinute(f.Counters.Admitted) != 120 || f.Waits.Count() != 60 {
		t.Errorf("%+v, %v", f, ok)
	}
	if _, ok := history.Between(b, point(at.Add(time.Minute), 10)); ok {
		t.Error("the room's memory began anew, and there is a flow")
	}
	if _, ok := history.Between(b, a); ok {
		t.Error("time went back, and there is a flow")
	}
}

func TestPromises_ComparesWithWhatWasToldThen(t *testing.T) {
	t.Parallel()
	start := time.UnixMilli(1_764_571_800_000)
	var points []history.Point
	for i := range 40 { // those who get in had waited 33 to 40 s
		p := history.Point{At: start.Add(time.Duration(i) * 5 * time.Second), Counters: queue.Counters{Admitted: int64(i)}}
		p.Promised = admission.ETA{Low: 30 * time.Second, High: 45 * time.Second}
		if i >= 20 {
			p.Promised = admission.ETA{Low: 50 * time.Second, High: 60 * time.Second} // a wrong promise
		}
		p.Waits[14] = int64(i)
		points = append(points, p)
	}
	kept, broken := 0, 0
	for _, p := range history.Promises(points) {
		if p.At.Before(start.Add(100*time.Second)) != p.Kept() {
			t.Errorf("%+v: kept is %v", p, p.Kept())
		}
		if p.Kept() {
			kept++
		} else {
			broken++
		}
	}
	if kept < 15 || broken < 5 {
		t.Errorf("%d kept, %d broken", kept, broken)
	}
}

func TestRecorder_WritesWhatTheLineLooksLike(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		name := redistest.RoomName(t)
		all, err := rooms.Parse("rooms.yaml", []byte("rooms: [{name: "+name+", capacity: 2, rate: 1000/s, burst: 100}]"))
		if err != nil {
			t.Fatal(err)
		}
		line := queue.New(rdb)
		for i := range 5 {
			if _, err := line.Join(t.Context(), all[0].Queue(), queue.ID("visitor-00000000000000"[:21]+string(rune('a'+i))), nil); err != nil {
				t.Fatal(err)
			}
		}
		store := history.NewStore(rdb)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- history.NewRecorder(store, line, func() []rooms.Room { return all }, slog.New(slog.DiscardHandler)).Run(ctx)
		}()
		var got []history.Point
		for deadline := time.Now().Add(20 * time.Second); len(got) == 0 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			if got, err = store.Load(t.Context(), name, history.QuarterHour, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if len(got) != 1 || got[0].Waiting != 3 || got[0].Active != 2 || got[0].Counters.Joined != 5 || got[0].Promised.High == 0 || got[0].Latency <= 0 {
			t.Errorf("%+v", got)
		}
	})
}
