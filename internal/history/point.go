package history

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/anteroom/anteroom/admission"
	"github.com/anteroom/anteroom/queue"
)

// Point is one look at a room.
type Point struct {
	At      time.Time
	State   string // of the room: open, paused, closed, not_open
	Waiting int64
	// Silent of those who wait are thought to be away or gone, give or take SilentErr.
	Silent, SilentErr int64
	Active, Capacity  int64
	Interval          time.Duration // of the pace
	Oldest            time.Duration // for how long the head of the line has waited
	Promised          admission.ETA // what somebody who joined now was told
	Latency           time.Duration // of Redis, for the look itself
	Held              bool          // the line was re-forming
	Counters          queue.Counters
	Waits             queue.Waits
}

// wire is a point as JSON: short names, for there are thousands.
type wire struct {
	State     string        `json:"s"`
	Waiting   int64         `json:"w"`
	Silent    int64         `json:"q"`
	SilentErr int64         `json:"qe"`
	Active    int64         `json:"a"`
	Capacity  int64         `json:"c"`
	Interval  int64         `json:"i"` // µs
	Oldest    int64         `json:"o"` // ms
	Low       int64         `json:"l"` // ms
	High      int64         `json:"h"` // ms
	Latency   int64         `json:"t"` // µs
	Held      bool          `json:"f,omitempty"`
	Counters  [9]int64      `json:"n"`
	Waits     map[int]int64 `json:"b,omitempty"` // filled buckets
}

func (p Point) encode() (string, error) {
	c := p.Counters
	w := wire{
		State: p.State, Waiting: p.Waiting, Silent: p.Silent, SilentErr: p.SilentErr, Active: p.Active, Capacity: p.Capacity,
		Interval: p.Interval.Microseconds(), Oldest: p.Oldest.Milliseconds(), Low: p.Promised.Low.Milliseconds(),
		High: p.Promised.High.Milliseconds(), Latency: p.Latency.Microseconds(), Held: p.Held,
		Counters: [9]int64{c.Joined, c.Admitted, c.Claimed, c.NoShows, c.Expired, c.Left, c.Aside, c.Dropped, c.Retaken},
		Waits:    map[int]int64{},
	}
	for i, n := range p.Waits {
		if n > 0 {
			w.Waits[i] = n
		}
	}
	out, err := json.Marshal(w)
	return string(out), err
}

func decode(at time.Time, text string) (Point, error) {
	var w wire
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		return Point{}, fmt.Errorf("history: point of %v: %w", at, err)
	}
	n := w.Counters
	p := Point{
		At: at, State: w.State, Waiting: w.Waiting, Silent: w.Silent, SilentErr: w.SilentErr, Active: w.Active, Capacity: w.Capacity,
		Interval: time.Duration(w.Interval) * time.Microsecond, Oldest: time.Duration(w.Oldest) * time.Millisecond,
		Promised: admission.ETA{Low: time.Duration(w.Low) * time.Millisecond, High: time.Duration(w.High) * time.Millisecond},
		Latency:  time.Duration(w.Latency) * time.Microsecond, Held: w.Held,
		Counters: queue.Counters{
			Joined: n[0], Admitted: n[1], Claimed: n[2], NoShows: n[3], Expired: n[4], Left: n[5], Aside: n[6], Dropped: n[7], Retaken: n[8],
		},
	}
	for i, count := range w.Waits {
		if i >= 0 && i < queue.WaitBuckets {
			p.Waits[i] = count
		}
	}
	return p, nil
}

// Flow is what happened between two points.
type Flow struct {
	Took     time.Duration
	Counters queue.Counters // differences
	Waits    queue.Waits    // of those who were let in from the line
}

// Between is what happened from a to the later b; false when the room's memory began anew
// between them, for then nothing can be told.
func Between(a, b Point) (Flow, bool) {
	d, ok := minus(b.Counters, a.Counters)
	if !ok || !b.At.After(a.At) {
		return Flow{}, false
	}
	return Flow{Took: b.At.Sub(a.At), Counters: d, Waits: b.Waits.Since(a.Waits)}, true
}

// PerMinute is a difference of a flow as a rate.
func (f Flow) PerMinute(n int64) float64 { return float64(n) / f.Took.Minutes() }

func minus(b, a queue.Counters) (queue.Counters, bool) {
	d := queue.Counters{
		Joined: b.Joined - a.Joined, Admitted: b.Admitted - a.Admitted, Claimed: b.Claimed - a.Claimed, NoShows: b.NoShows - a.NoShows,
		Expired: b.Expired - a.Expired, Left: b.Left - a.Left, Aside: b.Aside - a.Aside, Dropped: b.Dropped - a.Dropped, Retaken: b.Retaken - a.Retaken,
	}
	least := min(d.Joined, d.Admitted, d.Claimed, d.NoShows, d.Expired, d.Left, d.Aside, d.Dropped, d.Retaken)
	return d, least >= 0
}
