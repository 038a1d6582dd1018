package admission_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"github.com/anteroom/anteroom/admission"
	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/queue"
)

// TestHowMany_IsWhatTheAdmitStepDoes plays random timelines of ticks, joins and departures
// on the script and on the pure decision.
func TestHowMany_IsWhatTheAdmitStepDoes(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		runs := 0
		rapid.Check(t, func(rt *rapid.T) {
			runs++
			l := admission.Limits{
				Capacity: rapid.IntRange(1, 8).Draw(rt, "capacity"),
				Interval: time.Duration(rapid.IntRange(1, 2_000_000).Draw(rt, "interval_us")) * time.Microsecond,
				Burst:    rapid.IntRange(1, 4).Draw(rt, "burst"),
				Slack:    queue.Slack,
			}
			p := newPlay(rt, rdb, fmt.Sprintf("%s-%d", redistest.RoomName(t), runs), l)
			for range rapid.IntRange(5, 40).Draw(rt, "steps") {
				switch rapid.IntRange(0, 3).Draw(rt, "step") {
				case 0:
					p.join()
				case 1:
					p.leave()
				default:
					p.now = p.now.Add(time.Duration(rapid.IntRange(0, 3_000_000).Draw(rt, "wait_us")) * time.Microsecond)
					p.tick()
				}
			}
		})
	})
}

// play is one room under both.
type play struct {
	t       *rapid.T
	line    *queue.Line
	room    queue.Room
	limits  admission.Limits
	pace    admission.Pace
	now     time.Time
	waiting []queue.Ticket
	inside  []queue.Ticket
	joined  int
}

func newPlay(t *rapid.T, rdb *redis.Client, name string, l admission.Limits) *play {
	p := &play{t: t, limits: l, now: time.UnixMicro(1_700_000_000_000_000)}
	p.room = queue.Room{Name: name, Rules: queue.Rules{
		Capacity: l.Capacity, Interval: l.Interval, Burst: l.Burst, Session: time.Hour, ClaimWindow: time.Hour,
		Heartbeat: time.Hour, KeepPlace: time.Hour,
	}}
	p.line = queue.New(rdb, queue.WithClock(func() int64 { return p.now.UnixMicro() }))
	return p
}

// join takes a place; with nobody waiting the line lets in at once what the decision allows.
func (p *play) join() {
	id := queue.ID(fmt.Sprintf("visitor-%014d", p.joined))
	p.joined++
	got, err := p.line.Join(p.t.Context(), p.room, id, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	ticket := queue.Ticket{Room: p.room.Name, Generation: got.Generation, ID: id, Place: got.Place}
	want := 0
	if len(p.waiting) == 0 {
		p.pace.Bound = false
		want = admission.HowMany(p.limits, p.pace, len(p.inside), 1, p.now)
	}
	if in := got.State == queue.Admitted; in != (want == 1) {
		p.t.Fatalf("join with %d waiting and %d inside answered %s, HowMany says %d", len(p.waiting), len(p.inside), got.State, want)
	}
	if want == 1 {
		p.pace = p.pace.Take(p.limits, p.now, 1)
		p.inside = append(p.inside, ticket)
		return
	}
	p.waiting = append(p.waiting, ticket)
	p.pace.Bound = p.pace.Bound || len(p.waiting) == 1 && len(p.inside) < p.limits.Capacity
}

func (p *play) leave() {
	if len(p.inside) == 0 {
		return
	}
	if _, err := p.line.Leave(p.t.Context(), p.room, p.inside[0]); err != nil {
		p.t.Fatal(err)
	}
	p.inside = p.inside[1:]
}

func (p *play) tick() {
	want := admission.HowMany(p.limits, p.pace, len(p.inside), len(p.waiting), p.now)
	got, err := p.line.Admit(p.t.Context(), p.room)
	if err != nil {
		p.t.Fatal(err)
	}
	if got.Admitted != int64(want) {
		p.t.Fatalf("the step let %d in, HowMany says %d of %d waiting with %d inside", got.Admitted, want, len(p.waiting), len(p.inside))
	}
	if want > 0 {
		p.pace = p.pace.Take(p.limits, p.now, want)
	}
	p.inside = append(p.inside, p.waiting[:want]...)
	p.waiting = p.waiting[want:]
	p.pace.Bound = len(p.waiting) > 0 && len(p.inside) < p.limits.Capacity
}
