package redisledger_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/leaky/dispatch"
	"github.com/anteroom/anteroom/leaky/dispatch/redisledger"
)

func TestMain(m *testing.M) { redistest.Main(m) }

const far = 24 * time.Hour

func open(t *testing.T, rdb redis.UniversalClient, o redisledger.Options) (l *redisledger.Ledger, queue string) {
	t.Helper()
	queue = redistest.RoomName(t)
	l, err := redisledger.New(rdb, queue, o)
	if err != nil {
		t.Fatal(err)
	}
	return l, queue
}

func slot(t *testing.T, l *redisledger.Ledger, cost int64, ahead time.Duration) dispatch.Slot {
	t.Helper()
	s, err := l.Slot(t.Context(), cost, ahead)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// warm makes the pace known, which takes the first place after at most a second.
func warm(t *testing.T, l *redisledger.Ledger) {
	t.Helper()
	for s := slot(t, l, 1, 0); !s.Taken; s = slot(t, l, 1, 0) {
		if s.Wait > time.Second {
			t.Fatalf("the first place is in %v, want a second at most", s.Wait)
		}
		time.Sleep(s.Wait)
	}
}

// A pace that is not known may have been forgotten a moment ago.
func TestSlot_APaceThatWasForgottenBeginsWithoutABurst(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		l, queue := open(t, rdb, redisledger.Options{Rate: 2, Burst: 5})
		for range 3 { // asking makes it known, and no later
			if s := slot(t, l, 1, 0); s.Taken {
				t.Fatal("a place was had at once")
			}
		}
		if s := slot(t, l, 1, far); s.Wait > 525*time.Millisecond {
			t.Errorf("the first place is in %v, want half a second and a moment", s.Wait)
		}
		if ttl := rdb.TTL(t.Context(), "anteroom:{q:"+queue+"}:pace").Val(); ttl < 50*time.Minute {
			t.Errorf("the pace is forgotten after %v", ttl)
		}
	})
}

// A hundred places at a third of a second lie a hundred thirds apart, and not a microsecond more.
func TestSlot_PlacesLieEvenlyApart(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		l, _ := open(t, rdb, redisledger.Options{Rate: 3})
		warm(t, l)
		began := time.Now()
		for range 299 {
			slot(t, l, 1, far)
		}
		s := slot(t, l, 1, far)
		passed := time.Since(began)
		want := 300 * time.Second / 3
		if s.Wait > want+time.Millisecond || s.Wait < want-passed-200*time.Millisecond {
			t.Errorf("the 301st place is in %v, want %v less at most %v", s.Wait, want, passed)
		}
	})
}

func TestSlot_WhatIsTooFarIsNotTaken(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		l, _ := open(t, rdb, redisledger.Options{Rate: 1})
		slot(t, l, 60, far)
		for range 3 { // asking takes nothing
			if s := slot(t, l, 1, 10*time.Second); s.Taken || s.Wait > 62*time.Second || s.Wait < 40*time.Second {
				t.Errorf("a minute's work was taken, and then %+v", s)
			}
		}
		if s := slot(t, l, 1, far); !s.Taken || s.Wait > 62*time.Second {
			t.Errorf("the place that was asked for thrice: %+v", s)
		}
	})
}

// Many ask at the same time: no two have the same place.
func TestSlot_ManyAskersShareOnePace(t *testing.T) {
	t.Parallel()
	l, _ := open(t, redistest.Real(t), redisledger.Options{Rate: 10})
	warm(t, l)
	began := time.Now()
	var all sync.WaitGroup
	var mu sync.Mutex
	var last time.Duration
	for range 10 {
		all.Go(func() {
			for range 10 {
				s, err := l.Slot(context.Background(), 1, far)
				if err != nil || !s.Taken {
					t.Errorf("%+v, %v", s, err)
				}
				mu.Lock()
				last = max(last, s.Wait)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if passed := time.Since(began); last < 10*time.Second-passed-200*time.Millisecond || last > 10001*time.Millisecond {
		t.Errorf("the last of a hundred places is in %v, want 10 s less at most %v", last, passed)
	}
}

func TestSlot_BurstIsForTimeWithoutWorkOnly(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		l, queue := open(t, rdb, redisledger.Options{Rate: 0.1, Burst: 3})
		idle := fmt.Sprintf("%d:0:0", time.Now().Add(-time.Minute).UnixMicro())
		if err := rdb.Set(t.Context(), "anteroom:{q:"+queue+"}:pace", idle, time.Hour).Err(); err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			if s := slot(t, l, 1, 0); s.Taken != (i < 3) {
				t.Errorf("place %d: %+v, want three at once and no more", i, s)
			}
		}
	})
}

// The clock of Redis was an hour ahead: the queue neither stands still nor rushes.
func TestSlot_AClockThatIsSetBackFreezesNothing(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		l, queue := open(t, rdb, redisledger.Options{Rate: 10})
		us := time.Now().Add(time.Hour).UnixMicro()
		if err := rdb.Set(t.Context(), "anteroom:{q:"+queue+"}:pace", fmt.Sprintf("%d:0:100000", us), time.Hour).Err(); err != nil {
			t.Fatal(err)
		}
		if s := slot(t, l, 1, far); s.Wait > 100*time.Millisecond || s.Wait < 50*time.Millisecond {
			t.Errorf("after the clock was set back the next place is in %v, want a tenth of a second", s.Wait)
		}
	})
}

func begin(t *testing.T, l *redisledger.Ledger, job, holder string, lease time.Duration) dispatch.Start {
	t.Helper()
	s, err := l.Begin(t.Context(), job, holder, lease)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBegin_OneHolderAtATime(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		l, queue := open(t, rdb, redisledger.Options{Rate: 1})
		if s := begin(t, l, "j", "a", time.Minute); s.State != dispatch.Run {
			t.Errorf("an unknown job: %+v, want run", s)
		}
		if s := begin(t, l, "j", "b", time.Minute); s.State != dispatch.Busy || s.Until > time.Minute || s.Until < 30*time.Second {
			t.Errorf("the other: %+v, want busy for a minute", s)
		}
		if s := begin(t, l, "j", "a", time.Minute); s.State != dispatch.Run {
			t.Errorf("the holder, whose first answer was lost: %+v, want run", s)
		}
		if n := rdb.ZCard(t.Context(), "anteroom:{q:"+queue+"}:held").Val(); n != 1 {
			t.Errorf("%d jobs take room, want 1", n)
		}
		if err := l.Retry(t.Context(), "j", 1, time.Second, "answered 500"); err != nil {
			t.Fatal(err)
		}
		if s := begin(t, l, "j", "b", time.Millisecond); s.State != dispatch.Run {
			t.Errorf("after a retry: %+v, want run", s)
		}
		for range 2 {
			if err := l.Finish(t.Context(), "j", dispatch.StateDelivered, 2, ""); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(l.Retry(t.Context(), "j", 9, 0, "late"), l.Finish(t.Context(), "j", dispatch.StateDead, 9, "late")); err != nil {
			t.Fatal(err)
		}
		got := rdb.HGetAll(t.Context(), "anteroom:{q:"+queue+"}:job:j").Val()
		if got["state"] != "delivered" || got["attempts"] != "2" || got["lease"] != "" || got["ended"] == "" {
			t.Errorf("the job is %v; want delivered by its second attempt, whatever comes later", got)
		}
		if s := begin(t, l, "j", "c", time.Minute); s.State != dispatch.WasDone {
			t.Errorf("after it was delivered: %+v", s)
		}
		if n := rdb.ZCard(t.Context(), "anteroom:{q:"+queue+"}:held").Val(); n != 0 {
			t.Errorf("%d jobs take room, want none", n)
		}
	})
}

func TestBegin_ALeaseEndsByItself(t *testing.T) {
	t.Parallel()
	l, _ := open(t, redistest.Real(t), redisledger.Options{Rate: 1})
	begin(t, l, "j", "killed", 50*time.Millisecond)
	deadline := time.Now().Add(20 * time.Second)
	for begin(t, l, "j", "next", time.Minute).State != dispatch.Run {
		if time.Now().After(deadline) {
			t.Fatal("a lease of 50 ms has not ended after 20 s")
		}
	}
}

func TestBegin_CancelledIsNotRun(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		l, _ := open(t, rdb, redisledger.Options{Rate: 1})
		if err := l.Finish(t.Context(), "j", dispatch.StateCancelled, 0, "by its sender"); err != nil {
			t.Fatal(err)
		}
		if s := begin(t, l, "j", "a", time.Minute); s.State != dispatch.Cancelled {
			t.Errorf("%+v, want cancelled", s)
		}
	})
}

func TestGate_SwitchesAndPauses(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		l, _ := open(t, rdb, redisledger.Options{Rate: 1})
		gate := func(step error) dispatch.Gate {
			t.Helper()
			g, err := l.Gate(t.Context())
			if err := errors.Join(step, err); err != nil {
				t.Fatal(err)
			}
			return g
		}
		ctx := t.Context()
		if g := gate(nil); g != (dispatch.Gate{}) {
			t.Errorf("a new queue: %+v", g)
		}
		if g := gate(errors.Join(l.Pause(ctx, time.Hour, "429"), l.Pause(ctx, time.Second, "503"))); g.Paused < 50*time.Minute || g.Reason != "429" {
			t.Errorf("paused for an hour, then for a second: %+v; want the longer", g)
		}
		if g := gate(l.Hold(ctx, "")); !g.Held || g.Reason == "" {
			t.Errorf("held: %+v", g)
		}
		if g := gate(errors.Join(l.Resume(ctx), l.Disable(ctx, strings.Repeat("ü", 1000)))); g.Held || !g.Disabled || len(g.Reason) != 600 {
			t.Errorf("disabled: held %v, disabled %v, reason of %d bytes", g.Held, g.Disabled, len(g.Reason))
		}
		if g := gate(l.Enable(ctx)); g.Disabled || g.Reason != "429" {
			t.Errorf("enabled: %+v", g)
		}
	})
}

func TestRevive_OnlyWhatIsDeadAndOnce(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		l, queue := open(t, rdb, redisledger.Options{Rate: 1})
		ctx := t.Context()
		revive := func(job string, hold time.Duration, want bool) {
			t.Helper()
			if got, err := l.Revive(ctx, job, hold); got != want || err != nil {
				t.Errorf("revive %s: %v, %v; want %v", job, got, err, want)
			}
		}
		if err := errors.Join(l.Finish(ctx, "dead", dispatch.StateDead, 5, "attempts"), l.Finish(ctx, "sent", dispatch.StateDelivered, 1, "")); err != nil {
			t.Fatal(err)
		}
		revive("sent", time.Minute, false)
		revive("forgotten", time.Minute, true)
		revive("dead", 0, true)           // and then its replay is killed
		revive("dead", time.Minute, true) // so it can be repeated
		revive("dead", time.Minute, false)
		if err := l.Confirm(ctx, "dead"); err != nil {
			t.Fatal(err)
		}
		revive("dead", time.Minute, false)
		if n := rdb.ZCard(ctx, "anteroom:{q:"+queue+"}:held").Val(); n != 2 {
			t.Errorf("%d jobs take room, want the two that were revived", n)
		}
		if s := begin(t, l, "dead", "a", time.Minute); s.State != dispatch.Run {
			t.Errorf("a revived job: %+v, want run", s)
		}
		if err := l.Confirm(ctx, "dead"); err != nil || rdb.HGet(ctx, "anteroom:{q:"+queue+"}:job:dead", "state").Val() != "running" {
			t.Errorf("a confirmation that comes late changes a job that runs: %v", err)
		}
	})
}

// What belongs to a job or to the pace does not stay for ever.
func TestKeys_HaveTTLs(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		l, queue := open(t, rdb, redisledger.Options{Rate: 1, Keep: time.Hour})
		ctx := t.Context()
		slot(t, l, 5, far)
		begin(t, l, "begun", "a", time.Minute)
		if err := errors.Join(l.Retry(ctx, "retried", 1, 0, ""), l.Finish(ctx, "ended", dispatch.StateDead, 3, "")); err != nil {
			t.Fatal(err)
		}
		prefix := "anteroom:{q:" + queue + "}:"
		for key, most := range map[string]time.Duration{"pace": time.Hour + 7*time.Second, "job:begun": time.Hour, "job:retried": time.Hour, "job:ended": time.Hour} {
			if ttl := rdb.PTTL(ctx, prefix+key).Val(); ttl <= 0 || ttl > most {
				t.Errorf("%s lives for %v, want at most %v", key, ttl, most)
			}
		}
	})
}

func TestNew_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]redisledger.Options{
		"no rate": {}, "negative": {Rate: -1}, "not a number": {Rate: math.NaN()}, "endless": {Rate: math.Inf(1)},
		"too slow": {Rate: 1e-6}, "negative burst": {Rate: 1, Burst: -1},
	} {
		if _, err := redisledger.New(nil, "q", o); !errors.Is(err, redisledger.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := redisledger.New(nil, "", redisledger.Options{Rate: 1}); !errors.Is(err, redisledger.ErrConfig) {
		t.Errorf("no name: %v", err)
	}
}
