package queue_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/queue"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// testPerAhead is the poll interval for each person ahead, in µs, at the rate of
// testRules: a fifth of the pace's interval.
const testPerAhead = 200_000

func testRules() queue.Rules {
	return queue.Rules{
		Capacity: 4, Interval: time.Second, Burst: 2, Session: 20 * time.Second,
		ClaimWindow: 8 * time.Second, Heartbeat: 10 * time.Second, KeepPlace: 60 * time.Second,
	}
}

// world drives one line and its model through the same history.
type world struct {
	t       *testing.T
	rdb     *redis.Client
	line    *queue.Line
	room    queue.Room
	model   *model
	now     int64 // µs
	rand    *rand.Rand
	tickets []queue.Ticket
	signer  *queue.Signer
	story   []string
	in      map[queue.ID]int64 // generation in which an id was let in
}

func newWorld(t *testing.T, rdb *redis.Client, seed uint64) *world {
	signer, err := queue.NewSigner(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, rdb: rdb, room: queue.Room{Name: redistest.RoomName(t), Rules: testRules()},
		model: newModel(testRules()), now: 1_700_000_000_000_000, signer: signer,
		rand: rand.New(rand.NewPCG(seed, 1)), in: map[queue.ID]int64{},
	}
	w.line = queue.New(rdb, queue.WithClock(func() int64 { return w.now }))
	return w
}

func (w *world) failf(format string, args ...any) {
	w.t.Helper()
	for _, s := range w.story[max(0, len(w.story)-25):] {
		w.t.Log(s)
	}
	w.t.Fatalf(format, args...)
}

func (w *world) told(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf("%6.2fs ", float64(w.now%1e10)/1e6)+fmt.Sprintf(format, args...))
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.failf("step failed: %v", err)
	}
}

// advance moves the test's clock and lets the alive keys age with it, which Redis does
// by its own clock.
func (w *world) advance(by time.Duration) {
	w.now += by.Microseconds()
	ctx := context.Background()
	for _, t := range w.tickets {
		key := "anteroom:{" + w.room.Name + "}:alive:" + string(t.ID)
		left, ok := w.model.forget[t.ID]
		if !ok {
			continue
		}
		if left -= w.now / 1000; left <= 0 {
			w.must(w.rdb.Del(ctx, key).Err())
		}
	}
	w.told("advance %v", by)
}

func (w *world) anyTicket() (queue.Ticket, bool) {
	if len(w.tickets) == 0 {
		return queue.Ticket{}, false
	}
	// Recent tickets are met more often, old ones still now and then.
	n := len(w.tickets)
	if w.rand.IntN(4) > 0 {
		return w.tickets[n-1-w.rand.IntN(min(n, 12))], true
	}
	return w.tickets[w.rand.IntN(n)], true
}

func (w *world) join() {
	id := w.signer.DeriveID(w.room.Name, fmt.Sprint(len(w.tickets), "-", w.rand.Uint64()), 0)
	if t, ok := w.anyTicket(); ok && w.rand.IntN(5) == 0 {
		id = t.ID
	}
	got, err := w.line.Join(context.Background(), w.room, id, nil)
	w.must(err)
	state, place := w.model.join(w.now, id)
	w.told("join %s: %s at %d", id[:4], got.State, got.Place)
	if got.State != state || state == queue.Waiting && got.Place != place {
		w.failf("join %s answered %s at %d, want %s at %d", id, got.State, got.Place, state, place)
	}
	if got.New {
		w.tickets = append(w.tickets, queue.Ticket{Room: w.room.Name, Generation: got.Generation, ID: id, Place: got.Place})
		if state == queue.Admitted {
			w.letIn(id)
		}
	}
}

// letIn holds that a ticket gets in once.
func (w *world) letIn(id queue.ID) {
	if w.in[id] == w.model.gen {
		w.failf("%s was let in twice", id)
	}
	w.in[id] = w.model.gen
}

func (w *world) poll() {
	var batch []queue.Ticket
	for range 1 + w.rand.IntN(6) {
		if t, ok := w.anyTicket(); ok {
			batch = append(batch, t)
		}
	}
	if len(batch) == 0 {
		return
	}
	got, err := w.line.Poll(context.Background(), w.room, batch)
	w.must(err)
	w.model.begin(w.now)
	w.model.answered(w.now)
	for i, t := range batch {
		state, ahead := w.model.poll(w.now, t)
		w.told("poll %s: %s %d", t.ID[:4], got[i].State, got[i].Ahead)
		if got[i].State != state {
			w.failf("poll %s answered %s, want %s", t.ID, got[i].State, state)
		}
		if held := max(0, w.model.hold-w.now/1000); got[i].Held.Milliseconds() != held {
			w.failf("poll %s was told that the line is held for %v, want %d ms", t.ID, got[i].Held, held)
		}
		if state == queue.Waiting && got[i].PollAfter.Milliseconds() != pollInterval(ahead) {
			w.failf("poll %s was told to come after %v with %d ahead", t.ID, got[i].PollAfter, ahead)
		}
	}
	for i, t := range batch { // ranks are those after the whole batch
		if want := w.model.ahead(t.ID); got[i].State == queue.Waiting && got[i].Ahead != want {
			w.failf("poll %s answered %d ahead, want %d", t.ID, got[i].Ahead, want)
		}
	}
}

func (w *world) one() {
	t, ok := w.anyTicket()
	if !ok {
		return
	}
	ctx := context.Background()
	switch w.rand.IntN(5) {
	case 0:
		got, err := w.line.Leave(ctx, w.room, t)
		w.must(err)
		want := w.model.leave(w.now, t)
		w.told("leave %s: %s", t.ID[:4], got)
		if got != want {
			w.failf("leave %s answered %s, want %s", t.ID, got, want)
		}
	case 1:
		w.must(w.line.Away(ctx, w.room, t.ID))
		w.model.away(w.now, t.ID)
		w.told("away %s", t.ID[:4])
	default:
		got, err := w.line.Claim(ctx, w.room, t)
		w.must(err)
		want := w.model.claim(w.now, t)
		w.told("claim %s: %s", t.ID[:4], got.State)
		if got.State != want {
			w.failf("claim %s answered %s, want %s", t.ID, got.State, want)
		}
	}
}

func (w *world) admit() {
	got, err := w.line.Admit(context.Background(), w.room)
	w.must(err)
	in, passed := w.model.admit(w.now)
	w.told("admit: %d in, %d aside, %d dropped", got.Admitted, got.Aside, got.Dropped)
	if got.Admitted != int64(len(in)) || got.Aside+got.Dropped != int64(len(passed)) {
		w.failf("admit let %d in and passed %d, want %d and %d", got.Admitted, got.Aside+got.Dropped, len(in), len(passed))
	}
	for _, id := range in {
		w.letIn(id)
	}
}

// check compares the whole of Redis with the model, and holds the invariants.
func (w *world) check() {
	ctx := context.Background()
	prefix := "anteroom:{" + w.room.Name + "}:"
	waiting, err := w.rdb.ZRange(ctx, prefix+"waiting", 0, -1).Result()
	w.must(err)
	var want []string
	for _, id := range w.model.line() {
		want = append(want, string(id))
	}
	if !slices.Equal(waiting, want) {
		w.failf("waiting is\n%v, want\n%v", waiting, want)
	}
	active, err := w.rdb.ZRangeWithScores(ctx, prefix+"active", 0, -1).Result()
	w.must(err)
	if len(active) != len(w.model.active) || len(active) > w.room.Rules.Capacity {
		w.failf("active has %d ids, want %d, capacity %d", len(active), len(w.model.active), w.room.Rules.Capacity)
	}
	for _, z := range active {
		if end := w.model.active[queue.ID(z.Member.(string))]; int64(z.Score) != end {
			w.failf("slot of %v ends at %.0f, want %d", z.Member, z.Score, end)
		}
	}
}

func (w *world) step(flushes bool) {
	switch n := w.rand.IntN(100); {
	case n < 22:
		w.join()
	case n < 50:
		w.poll()
	case n < 64:
		w.one()
	case n < 80:
		w.admit()
	case n < 98:
		w.advance(time.Duration(w.rand.Int64N(3_000_000)) * time.Microsecond)
	case n < 99:
		w.advance(time.Duration(w.rand.IntN(90)) * time.Second)
	default:
		w.rare(flushes)
	}
}

func (w *world) rare(flushes bool) {
	ctx := context.Background()
	switch w.rand.IntN(7) {
	case 6:
		w.room.Rules.Hold = !w.room.Rules.Hold
		w.model.rules.Hold = w.room.Rules.Hold
		w.told("the room is held: %v", w.room.Rules.Hold)
	case 0:
		got, err := w.line.Reset(ctx, w.room, max(1, w.model.gen))
		w.must(err)
		w.model.reset(w.now)
		w.told("reset")
		if got != w.model.gen {
			w.failf("reset answered generation %d, want %d", got, w.model.gen)
		}
	case 1:
		if !flushes {
			return
		}
		names, err := w.rdb.Keys(ctx, "anteroom:{"+w.room.Name+"}:*").Result()
		w.must(err)
		if len(names) > 0 {
			w.must(w.rdb.Del(ctx, names...).Err())
		}
		w.model.wipe()
		clear(w.in) // who was inside is forgotten: only a pass proves it
		w.told("Redis forgot the room")
	case 2:
		w.must(w.rdb.ScriptFlush(ctx).Err())
	}
}

// TestHistory_LineAgreesWithModel plays random histories on the line and on the model:
// every answer, the order of the line and every slot must be the same.
func TestHistory_LineAgreesWithModel(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		const histories, steps = 12, 1000
		for seed := range uint64(histories) {
			w := newWorld(t, rdb, seed)
			for i := range steps {
				w.step(seed%2 == 1)
				if i%10 == 0 {
					w.check()
				}
			}
			w.check()
		}
	})
}
