package recall_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/queue"
	"github.com/anteroom/anteroom/queue/recall"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// world is a line with people, a server that remembers, and a clock that the test moves.
type world struct {
	t       *testing.T
	rdb     *redis.Client
	line    *queue.Line
	memory  *recall.Recall
	room    queue.Room
	now     int64 // µs
	people  []queue.Ticket
	exact   int // polls that asked the line
	away    bool
	shown   map[queue.ID]int64
	back    map[queue.ID]int64 // who had come back in all when the ticket was first asked about
	allBack int64
	sub     *redis.PubSub
	unheard int64 // moves of the line since the server heard of it last
}

func rules() queue.Rules {
	return queue.Rules{
		Capacity: 100, Interval: 500 * time.Millisecond, Burst: 1, Session: time.Minute, ClaimWindow: 40 * time.Second,
		Heartbeat: 30 * time.Second, KeepPlace: 10 * time.Minute,
	}
}

func newWorld(t *testing.T, rdb *redis.Client) *world {
	w := &world{t: t, rdb: rdb, room: queue.Room{Name: redistest.RoomName(t), Rules: rules()}, now: 1_700_000_000_000_000}
	w.shown, w.back = map[queue.ID]int64{}, map[queue.ID]int64{}
	w.sub = rdb.Subscribe(t.Context(), queue.MovesChannel(w.room.Name))
	t.Cleanup(func() { _ = w.sub.Close() })
	if _, err := w.sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.line = queue.New(rdb, queue.WithClock(func() int64 { return w.now }))
	w.memory = w.server()
	return w
}

// server is a server with nothing in its memory.
func (w *world) server() *recall.Recall {
	return recall.NewAt(counted{w}, w.line, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), func() time.Time { return time.UnixMicro(w.now) })
}

// counted asks the line and notes that it was asked.
type counted struct{ w *world }

var errAway = errors.New("away")

func (c counted) Poll(ctx context.Context, room queue.Room, t queue.Ticket) (queue.Standing, error) {
	if c.w.away {
		return queue.Standing{}, errAway
	}
	c.w.exact++
	waited := c.w.rank(t.ID) >= 0
	out, err := c.w.line.Poll(ctx, room, []queue.Ticket{t})
	if err != nil {
		return queue.Standing{}, err
	}
	if !waited && out[0].State == queue.Waiting {
		c.w.allBack++
	}
	if _, known := c.w.back[t.ID]; !known {
		c.w.back[t.ID] = c.w.allBack
	}
	return out[0], nil
}

func (w *world) rank(id queue.ID) int64 {
	n, err := w.rdb.ZRank(context.Background(), "anteroom:{"+w.room.Name+"}:waiting", string(id)).Result()
	if errors.Is(err, redis.Nil) {
		return -1
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

func (w *world) join(n int) {
	for range n {
		id := queue.ID(fmt.Sprintf("visitor-%014d", len(w.people)))
		got, err := w.line.Join(context.Background(), w.room, id, nil)
		if err != nil {
			w.t.Fatal(err)
		}
		w.people = append(w.people, queue.Ticket{Room: w.room.Name, Generation: got.Generation, ID: id, Place: got.Place})
	}
}

func (w *world) poll(t queue.Ticket) queue.Standing {
	w.t.Helper()
	got, err := w.memory.Poll(context.Background(), w.room, t)
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

func (w *world) advance(d time.Duration) { w.now += d.Microseconds() }

func (w *world) admit() {
	tick, err := w.line.Admit(context.Background(), w.room)
	if err != nil {
		w.t.Fatal(err)
	}
	w.unheard += tick.Admitted + tick.Aside + tick.Dropped
}

// hear gives the server all messages that were published until now, but those that are lost.
func (w *world) hear(lost func() bool) {
	all := true
	channel := queue.MovesChannel(w.room.Name)
	if err := w.rdb.Publish(context.Background(), channel, "end").Err(); err != nil {
		w.t.Fatal(err)
	}
	for {
		m, err := w.sub.ReceiveMessage(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		switch {
		case m.Payload == "end":
			if all {
				w.unheard = 0
			}
			return
		case lost():
			all = false
		default:
			w.memory.Moved(m.Channel, m.Payload)
		}
	}
}

func never() bool { return false }

// check holds one answer against the exact rank and what was told before. Between two
// hearings the answer may lag behind by what happened since.
func (w *world) check(t queue.Ticket, got queue.Standing) {
	w.t.Helper()
	rank := w.rank(t.ID)
	if got.State != queue.Waiting {
		return
	}
	if rank < 0 {
		if w.unheard == 0 {
			w.t.Fatalf("%s is told to wait and is not in line", t.ID)
		}
		return
	}
	before, told := w.shown[t.ID]
	if told && got.Ahead > before {
		w.t.Fatalf("%s was told %d ahead and then %d", t.ID, before, got.Ahead)
	}
	w.shown[t.ID] = got.Ahead
	back := w.allBack - w.back[t.ID]
	if got.Ahead > rank+w.unheard || got.Ahead < rank-w.unheard-back {
		w.t.Fatalf("%s is told %d ahead, exactly %d; %d moves are unheard, %d came back", t.ID, got.Ahead, rank, w.unheard, back)
	}
}

// TestHistory_MemoryAgreesWithExactRanks plays random lines: people poll, leave, go away and
// come back, while others are let in.
func TestHistory_MemoryAgreesWithExactRanks(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		for seed := range uint64(8) {
			lossy := seed%2 == 1 // messages are lost, and the server has to notice
			w, rng := newWorld(t, rdb), rand.New(rand.NewPCG(seed, 1))
			w.join(150)
			gone, asked := map[queue.ID]bool{}, 0
			for range 1500 {
				w.advance(time.Duration(rng.IntN(100)) * time.Millisecond)
				p := w.people[rng.IntN(len(w.people))]
				switch n := rng.IntN(100); {
				case n < 80 && !gone[p.ID]:
					asked++
					w.check(p, w.poll(p))
				case n < 82 && !gone[p.ID]:
					w.unheard++
					if _, err := w.line.Leave(t.Context(), w.room, p); err != nil {
						t.Fatal(err)
					}
					gone[p.ID] = true
				case n < 84:
					w.memory.Flush(t.Context())
				case n < 97:
					w.hear(func() bool { return lossy && rng.IntN(3) == 0 })
				case n < 99:
					w.admit()
				default:
					w.join(3)
				}
			}
			if most := map[bool]int{false: 60, true: 95}[lossy]; w.exact > asked*most/100 {
				t.Errorf("seed %d: %d of %d polls asked the line", seed, w.exact, asked)
			}
			if t.Failed() {
				return
			}
		}
	})
}

// line is a world with a line of n in which everybody was asked about exactly just now.
func line(t *testing.T, rdb *redis.Client, n int) *world {
	w := newWorld(t, rdb)
	w.join(n + 1)
	for _, p := range w.people {
		w.poll(p)
	}
	w.exact = 0
	return w
}

func TestRecall_AnswersFromMemoryAndMovesWithTheLine(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := line(t, rdb, 200)
		last := w.people[200]
		before := w.poll(last).Ahead
		w.advance(600 * time.Millisecond)
		w.admit()
		w.hear(never)
		after := w.poll(last)
		if w.exact != 0 || after.Ahead != before-1 || after.Ahead != w.rank(last.ID) || after.PollAfter <= 0 {
			t.Errorf("%d asked the line; %d ahead, then %d, exactly %d", w.exact, before, after.Ahead, w.rank(last.ID))
		}
	})
}

func TestRecall_AsksExactly(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		for name, c := range map[string]struct {
			who    int
			change func(w *world)
			exact  int
		}{
			"far back":              {200, func(*world) {}, 0},
			"near the front":        {20, func(*world) {}, 1},
			"unknown here":          {200, func(w *world) { w.memory = w.server() }, 1},
			"the line is not heard": {200, func(w *world) { w.advance(recall.FreshFor + time.Second) }, 1},
			"the ticket was silent": {200, func(w *world) { w.silent(23 * time.Second) }, 1},
			"it has been too long": {200, func(w *world) {
				w.keepPolling(w.people[200], recall.ExactEvery-10*time.Second)
				w.silent(12 * time.Second)
			}, 1},
			"a few polls went by":    {200, func(w *world) { w.polls(w.people[200], recall.MemoryPolls) }, 1},
			"it left here":           {200, func(w *world) { w.memory.Forget(w.room.Name, w.people[200].ID) }, 1},
			"the line was forgotten": {200, func(w *world) { w.flushAll() }, 1},
			"a reset":                {200, func(w *world) { w.reset() }, 1},
			"another place":          {200, func(w *world) { w.people[200].Place++ }, 1},
		} {
			w := line(t, rdb, 200)
			c.change(w)
			w.exact = 0
			w.poll(w.people[c.who])
			if w.exact != c.exact {
				t.Errorf("%s: %d exact polls, want %d", name, w.exact, c.exact)
			}
		}
	})
}

// silent lets time pass in which another ticket polls.
func (w *world) silent(d time.Duration) {
	for until := w.now + d.Microseconds(); w.now < until; w.advance(time.Second) {
		w.poll(w.people[150])
		w.memory.Flush(context.Background())
	}
}

// keepPolling polls without reaching the bound on polls.
func (w *world) keepPolling(t queue.Ticket, d time.Duration) {
	step := d / (recall.MemoryPolls - 1)
	for range recall.MemoryPolls - 1 {
		for until := w.now + step.Microseconds(); w.now < until; w.advance(time.Second) {
			w.poll(w.people[150])
			w.memory.Flush(context.Background())
		}
		w.poll(t)
	}
}

func (w *world) polls(t queue.Ticket, n int) {
	for range n {
		w.poll(t)
	}
}

func (w *world) flushAll() {
	keys := w.rdb.Keys(context.Background(), "anteroom:{"+w.room.Name+"}:*").Val()
	if err := w.rdb.Del(context.Background(), keys...).Err(); err != nil {
		w.t.Fatal(err)
	}
	w.poll(w.people[150])
	w.memory.Flush(context.Background()) // a heartbeat notices
}

func (w *world) reset() {
	if _, err := w.line.Reset(context.Background(), w.room, 1); err != nil {
		w.t.Fatal(err)
	}
	w.poll(w.people[150])
	w.memory.Flush(context.Background())
}

func TestRecall_HeartbeatsAreWritten(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := line(t, rdb, 200)
		key := "anteroom:{" + w.room.Name + "}:alive:"
		p := w.people[200]
		before := rdb.Get(t.Context(), key+string(p.ID)).Val()
		w.advance(time.Second)
		w.poll(p)
		if got := rdb.Get(t.Context(), key+string(p.ID)).Val(); got != before {
			t.Fatal("the poll wrote by itself")
		}
		w.memory.Flush(t.Context())
		if got := rdb.Get(t.Context(), key+string(p.ID)).Val(); got <= before || w.exact != 0 {
			t.Errorf("present until %s, before %s; %d exact polls", got, before, w.exact)
		}
		// A ticket that is nowhere any more gets no key.
		if _, err := w.line.Leave(t.Context(), w.room, p); err != nil { // by another server
			t.Fatal(err)
		}
		w.poll(p)
		w.memory.Flush(t.Context())
		if n := rdb.Exists(t.Context(), key+string(p.ID)).Val(); n != 0 {
			t.Error("a ticket that left has an alive key again")
		}
	})
}

// TestRecall_AStoreThatIsAwayIsNotCoveredUp: once the line has not been heard for FreshFor,
// visitors are told the truth.
func TestRecall_AStoreThatIsAwayIsNotCoveredUp(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := line(t, rdb, 200)
		w.away = true
		w.advance(recall.FreshFor + time.Millisecond)
		if _, err := w.memory.Poll(t.Context(), w.room, w.people[200]); !errors.Is(err, errAway) {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestListen_ForgetsWhoseTurnItIs(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := line(t, rdb, 200)
		p := w.people[200]
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.memory.Listen(ctx, rdb, func() []string { return []string{w.room.Name} }) }()
		defer func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}()
		heard := func() bool {
			m := fmt.Sprintf("1 0 0;;%s other", p.ID)
			if err := rdb.Publish(t.Context(), queue.MovesChannel(w.room.Name), m).Err(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Millisecond)
			w.exact = 0
			w.poll(p)
			return w.exact == 1
		}
		for deadline := time.Now().Add(20 * time.Second); !heard(); {
			if time.Now().After(deadline) {
				t.Fatal("the turn was not heard")
			}
		}
	})
}

// TestSteps_AnnounceWhatTheyDid: what the steps say is what servers read.
func TestSteps_AnnounceWhatTheyDid(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb)
		w.join(11) // the first goes straight in
		next := func() queue.Moves {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			m, err := w.sub.ReceiveMessage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			got, err := queue.ParseMoves(m.Payload)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		w.advance(time.Second)
		w.admit()
		if got := next(); got.Mark.Made == 0 || got.Mark.Popped != 1 || got.Mark.Shifts != 0 || len(got.Turns) != 1 || got.Turns[0] != w.people[1].ID {
			t.Errorf("admit announced %+v", got)
		}
		p := w.people[5]
		if _, err := w.line.Leave(t.Context(), w.room, p); err != nil {
			t.Fatal(err)
		}
		if got := next(); got.Mark.Popped != 1 || got.Mark.Shifts != 1 || len(got.Shifts) != 1 || got.Shifts[0] != (queue.Shift{Place: p.Place, Left: true}) || got.Turns[0] != p.ID {
			t.Errorf("leave announced %+v", got)
		}
		if err := w.line.Away(t.Context(), w.room, w.people[6].ID); err != nil {
			t.Fatal(err)
		}
		if got := next(); got.Mark.Shifts != 1 || len(got.Turns) != 1 || got.Turns[0] != w.people[6].ID {
			t.Errorf("away announced %+v", got)
		}
		if err := rdb.ZRem(t.Context(), "anteroom:{"+w.room.Name+"}:waiting", string(w.people[7].ID)).Err(); err != nil {
			t.Fatal(err)
		}
		w.poll(w.people[7])
		if got := next(); got.Mark.Shifts != 2 || len(got.Shifts) != 1 || got.Shifts[0] != (queue.Shift{Place: w.people[7].Place}) {
			t.Errorf("a poll that puts back announced %+v", got)
		}
	})
}
