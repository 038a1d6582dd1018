package dispatch

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom/leaky"
	"github.com/anteroom/anteroom/leaky/bucket"
	"github.com/anteroom/anteroom/leaky/job"
)

// Whatever is added, taken, rested, released and lost: of each key and lane one job is under
// way at a time and they come in order, each job comes until it is released and not after,
// and at the end the window is empty and its bounds are free again.
func TestWindow_RandomHistories(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, err := newWindow(Config{Window: 1000, High: 3, Normal: 1, Breaker: leaky.BreakerConfig{Concurrency: 1}})
		if err != nil {
			t.Fatal(err)
		}
		h := history{t: t, w: w, last: map[string]int{}, busy: map[string]bool{}, lost: make([]chan struct{}, 3)}
		for i := range h.lost {
			h.lost[i] = make(chan struct{})
		}
		for range rapid.IntRange(0, 150).Draw(t, "steps") {
			h.step(rapid.SampledFrom([]string{"add", "add", "add", "take", "take", "rest", "release", "lose", "sweep"}).Draw(t, "step"))
		}
		for len(h.underWay) > 0 || w.ready.Len()+len(w.resting) > 0 {
			h.step("take")
			h.step("release")
		}
		w.sweep()
		if w.inHand() != 0 || len(w.keys) != 0 {
			t.Fatalf("at the end %d jobs are in hand, and keys are %v", w.inHand(), w.keys)
		}
		if h.released+h.gone != h.added {
			t.Fatalf("%d jobs were added, %d released, %d lost", h.added, h.released, h.gone)
		}
	})
}

// history is what was done to a window, and what must be so.
type history struct {
	t        *rapid.T
	w        *window
	underWay []*held
	lost     []chan struct{} // of each partition
	last     map[string]int  // number of the last job that was taken, by order key
	busy     map[string]bool // order keys under way

	added, released, gone int
}

func (h *history) step(what string) {
	switch what {
	case "add":
		h.add()
	case "take":
		h.take()
	case "rest", "release":
		h.end(what)
	case "lose":
		at := rapid.IntRange(0, len(h.lost)-1).Draw(h.t, "partition")
		close(h.lost[at])
		h.lost[at] = make(chan struct{})
	case "sweep":
		h.sweep()
	}
}

func (h *history) add() {
	h.added++
	key := rapid.SampledFrom([]string{"", "", "a", "b", "c"}).Draw(h.t, "key")
	lane := rapid.SampledFrom([]bucket.Line{bucket.High, bucket.Normal}).Draw(h.t, "lane")
	partition := 0 // all of one key stand on one
	if key != "" {
		partition = int(key[0]-'a') % len(h.lost)
	}
	h.w.add(&held{
		item: &bucket.Item{Line: lane, Lost: h.lost[partition], Record: bucket.Record{ID: fmt.Sprint(h.added), Value: []byte("v")}},
		job:  &job.Job{Key: key, Lane: lane, Cost: rapid.Int64Range(1, 9).Draw(h.t, "cost"), Attempts: h.added},
	})
}

func (h *history) take() {
	before := h.w.inHand()
	one := h.w.take()
	h.gone += before - h.w.inHand()
	if one == nil {
		return
	}
	if one.item.IsLost() {
		h.t.Fatalf("job %s is handed out though it is another reader's", one.item.ID)
	}
	if key := one.orderKey(); key != "" {
		if h.busy[key] || one.job.Attempts < h.last[key] {
			h.t.Fatalf("job %s of key %s after %d, under way: %v", one.item.ID, key, h.last[key], h.busy[key])
		}
		h.busy[key], h.last[key] = true, one.job.Attempts
	}
	h.underWay = append(h.underWay, one)
}

func (h *history) end(how string) {
	if len(h.underWay) == 0 {
		return
	}
	at := rapid.IntRange(0, len(h.underWay)-1).Draw(h.t, "which")
	one := h.underWay[at]
	h.underWay = append(h.underWay[:at:at], h.underWay[at+1:]...)
	h.busy[one.orderKey()] = false
	if how == "rest" {
		h.w.rest(one, time.Time{})
		return
	}
	h.released++
	h.w.release(one)
}

func (h *history) sweep() {
	before := h.w.inHand()
	h.w.sweep()
	h.gone += before - h.w.inHand()
}
