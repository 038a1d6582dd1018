package dispatch_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anteroom/anteroom/internal/jobreceiver"
	"github.com/anteroom/anteroom/leaky/bucket"
	"github.com/anteroom/anteroom/leaky/deliver"
	"github.com/anteroom/anteroom/leaky/dispatch"
	"github.com/anteroom/anteroom/leaky/job"
)

func TestReplay_DeadLettersLeaveAgainAtThePaceAndOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10)
		var up atomic.Bool
		w.target.answer = func(context.Context, deliver.Delivery) deliver.Result {
			if up.Load() {
				return ok
			}
			return failed
		}
		w.put(bucket.Normal, "n", 20, nil)
		w.bucket.Raw(bucket.Normal, "raw", []byte("no job"))
		_, stop := w.run()
		defer stop()
		time.Sleep(2 * time.Hour) // the breaker lets few attempts through
		if n := len(w.dead()); n != 21 {
			t.Fatalf("%d dead letters, want 21", n)
		}
		up.Store(true)
		before := len(w.target.seen())
		fates := func(f dispatch.Filter, dry bool) map[dispatch.Fate]int {
			all := map[dispatch.Fate]int{}
			if err := dispatch.Replay(t.Context(), w.bucket, w.ledger, f, dry, func(_ *job.Job, _ time.Time, fate dispatch.Fate) { all[fate]++ }); err != nil {
				t.Fatal(err)
			}
			return all
		}
		if got := fates(dispatch.Filter{}, true); got[dispatch.Replayed] != 20 || got[dispatch.Unreadable] != 1 {
			t.Errorf("a dry run: %v", got)
		}
		if got := fates(dispatch.Filter{IDs: []string{"n3", "n4", "nowhere"}}, false); got[dispatch.Replayed] != 2 || len(got) != 1 {
			t.Errorf("two by id: %v", got)
		}
		if got := fates(dispatch.Filter{Reason: "answered 404"}, false); len(got) != 0 {
			t.Errorf("by a reason that none has: %v", got)
		}
		if got := fates(dispatch.Filter{Reason: "answered 500"}, false); got[dispatch.Replayed] != 18 || got[dispatch.NotDead] != 2 {
			t.Errorf("all by reason: %v", got)
		}
		if got := fates(dispatch.Filter{Since: time.Now().Add(-3 * time.Hour)}, false); got[dispatch.NotDead] != 20 {
			t.Errorf("once more: %v", got)
		}
		time.Sleep(time.Minute)
		again := w.target.seen()[before:]
		if got := jobreceiver.Summarize(again); got.Jobs != 20 || got.Arrivals != 20 || got.Busiest > 11 {
			t.Errorf("%v; want 20 jobs once, at most 11 in a second", got)
		}
		if i := slices.IndexFunc(again, func(a jobreceiver.Arrival) bool { return a.Attempt != 1 }); i >= 0 {
			t.Errorf("job %s begins with attempt %d", again[i].ID, again[i].Attempt)
		}
	})
}

func TestFilter_Matches(t *testing.T) {
	t.Parallel()
	died := time.Unix(1_800_000_000, 0)
	letter := &job.Job{ID: "a", Dead: "attempts", History: []job.Failure{{Reason: "answered 404"}, {Reason: "answered 500"}}}
	for name, c := range map[string]struct {
		f    dispatch.Filter
		want bool
	}{
		"all": {dispatch.Filter{}, true}, "why": {dispatch.Filter{Reason: "attempts"}, true}, "last failure": {dispatch.Filter{Reason: "500"}, true},
		"an earlier failure": {dispatch.Filter{Reason: "404"}, false}, "id": {dispatch.Filter{IDs: []string{"b", "a"}}, true}, "other id": {dispatch.Filter{IDs: []string{"b"}}, false},
		"since then": {dispatch.Filter{Since: died}, true}, "since later": {dispatch.Filter{Since: died.Add(1)}, false},
		"until then": {dispatch.Filter{Until: died}, false}, "until later": {dispatch.Filter{Until: died.Add(1)}, true},
	} {
		if got := c.f.Matches(letter, died); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestReplay_StopsAtTheFirstFailureAndCanBeRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	for _, id := range []string{"a", "b"} {
		j := &job.Job{ID: id, Queue: "q", Lane: bucket.High, Cost: 1, Dead: "attempts"}
		value, err := j.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := w.bucket.Put(t.Context(), bucket.Dead, bucket.Record{ID: id, Value: value}); err != nil {
			t.Fatal(err)
		}
		w.ledger.of(id).state = dispatch.StateDead
	}
	w.ledger.away = true
	err := dispatch.Replay(t.Context(), w.bucket, w.ledger, dispatch.Filter{}, false, func(*job.Job, time.Time, dispatch.Fate) { t.Error("told of a letter that failed") })
	if !errors.Is(err, errAway) {
		t.Errorf("with the ledger away: %v", err)
	}
	w.ledger.away = false
	told := 0
	if err := dispatch.Replay(t.Context(), w.bucket, w.ledger, dispatch.Filter{}, false, func(*job.Job, time.Time, dispatch.Fate) { told++ }); err != nil || told != 2 || w.left(bucket.High) != 2 {
		t.Errorf("repeated: %v, told of %d, %d in the lane", err, told, w.left(bucket.High))
	}
}
