package queue_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/queue"
)

// stage is a room under a clock that the test moves.
type stage struct {
	t    *testing.T
	rdb  *redis.Client
	line *queue.Line
	room queue.Room
	now  int64 // µs
}

func newStage(t *testing.T, rdb *redis.Client, r queue.Rules) *stage {
	s := &stage{t: t, rdb: rdb, room: queue.Room{Name: redistest.RoomName(t), Rules: r}, now: 1_700_000_000_000_000}
	s.line = s.another()
	return s
}

// another is a line as a further process would have it.
func (s *stage) another() *queue.Line {
	return queue.New(s.rdb, queue.WithClock(func() int64 { return s.now }))
}

func (s *stage) key(name string) string { return "anteroom:{" + s.room.Name + "}:" + name }

func (s *stage) advance(by time.Duration) { s.now += by.Microseconds() }

func (s *stage) join(n int) []queue.Ticket {
	s.t.Helper()
	tickets := make([]queue.Ticket, n)
	for i := range tickets {
		got, err := s.line.Join(context.Background(), s.room, queue.ID(fmt.Sprintf("visitor-%014d", i)), nil)
		if err != nil {
			s.t.Fatal(err)
		}
		tickets[i] = queue.Ticket{Room: s.room.Name, Generation: got.Generation, ID: queue.ID(fmt.Sprintf("visitor-%014d", i)), Place: got.Place}
	}
	return tickets
}

// poll asks for all tickets and returns where each stands.
func (s *stage) poll(tickets []queue.Ticket) []queue.Standing {
	s.t.Helper()
	var out []queue.Standing
	for batch := range slices.Chunk(tickets, queue.MaxPolls) {
		got, err := s.line.Poll(context.Background(), s.room, batch)
		if err != nil {
			s.t.Fatal(err)
		}
		out = append(out, got...)
	}
	return out
}

func (s *stage) admit() queue.Tick {
	s.t.Helper()
	tick, err := s.line.Admit(context.Background(), s.room)
	if err != nil {
		s.t.Fatal(err)
	}
	return tick
}

func count(standings []queue.Standing, state queue.State) (n int) {
	for _, s := range standings {
		if s.State == state {
			n++
		}
	}
	return n
}

func quick(capacity int) queue.Rules {
	r := testRules()
	r.Capacity, r.Interval, r.Burst = capacity, time.Millisecond, 1000
	return r
}

// TestAdmit_ExpiresTheActiveByScore plays the worked timeline of the vectors.
func TestAdmit_ExpiresTheActiveByScore(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/limits.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		ActiveExpiry []struct {
			Name    string
			Members map[string]int64
			SweepAt int64 `json:"sweep_at"`
			Left    []string
		} `json:"active_expiry"`
	}
	if err := json.Unmarshal(raw, &vectors); err != nil || len(vectors.ActiveExpiry) == 0 {
		t.Fatalf("testdata/limits.json has %d timelines of active_expiry: %v", len(vectors.ActiveExpiry), err)
	}
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		for _, v := range vectors.ActiveExpiry {
			s := newStage(t, rdb, testRules())
			for id, expiry := range v.Members {
				rdb.ZAdd(t.Context(), s.key("active"), redis.Z{Member: id, Score: float64(expiry)})
			}
			s.now = v.SweepAt * 1000
			tick := s.admit()
			left, err := rdb.ZRange(t.Context(), s.key("active"), 0, -1).Result()
			if err != nil || !slices.Equal(left, v.Left) {
				t.Errorf("%s: active has %v (%v), want %v", v.Name, left, err, v.Left)
			}
			if want := int64(len(v.Members) - len(v.Left)); tick.Expired != want {
				t.Errorf("%s: %d slots ended, want %d", v.Name, tick.Expired, want)
			}
		}
	})
}

// TestWR01_ATurnNobodyClaimsGoesToTheNextLivingVisitor: ten inside, ten who left without
// a word, ten who wait. The absent must not hold the room up.
func TestWR01_ATurnNobodyClaimsGoesToTheNextLivingVisitor(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s := newStage(t, rdb, quick(10))
		tickets := s.join(30)
		s.admit()
		if n := count(s.poll(tickets), queue.Admitted); n != 10 {
			t.Fatalf("%d of 30 were let in, want 10", n)
		}
		// 1 to 10 claim nothing, 11 to 20 fall silent, 21 to 30 go on asking.
		for range 8 {
			s.advance(2 * time.Second)
			s.poll(tickets[20:])
			s.admit()
		}
		if n := count(s.poll(tickets[20:]), queue.Admitted); n != 10 {
			t.Errorf("%d of the 10 living visitors are in a claim window after the turns ran out, want 10", n)
		}
		if active := rdb.ZCard(t.Context(), s.key("active")).Val(); active != 10 {
			t.Errorf("active has %d ids, want 10", active)
		}
	})
}

// TestWR04_AnOutageCostsNobodyAPlace: everybody is silent for longer than a place is kept,
// because the store was away.
func TestWR04_AnOutageCostsNobodyAPlace(t *testing.T) {
	t.Parallel()
	s := newStage(t, redistest.Real(t), quick(100))
	people := s.join(10_000)
	s.admit()
	s.advance(2 * time.Second)
	before := s.poll(people)
	inside := count(before, queue.Admitted)
	s.advance(2*s.room.Rules.KeepPlace + time.Second)
	for range 50 {
		if tick := s.admit(); tick.Admitted+tick.Aside+tick.Dropped > 0 {
			t.Fatalf("a tick after the outage, before anybody could ask, moved people: %+v", tick)
		}
		s.advance(100 * time.Millisecond)
	}
	// They come back from the last to the first, within the longest poll.
	waiting := people[inside:]
	for i := len(waiting); i > 0; i -= 100 {
		s.advance(100 * time.Millisecond)
		s.poll(waiting[max(0, i-100):i])
		if tick := s.admit(); tick.Admitted > 0 {
			t.Fatalf("%d were let in while the line re-formed", tick.Admitted)
		}
	}
	after := s.poll(waiting)
	for i, now := range after {
		if now.State != queue.Waiting || now.Ahead != int64(i) {
			t.Fatalf("person %d is %s with %d ahead after the outage, want waiting with %d", i, now.State, now.Ahead, i)
		}
	}
	for range 5 {
		s.advance(5 * time.Second)
		s.poll(waiting)
	}
	if tick := s.admit(); tick.Admitted != 100 {
		t.Errorf("%d were let in when the line had re-formed, want 100", tick.Admitted)
	}
}

// TestRQ02_OneInstantKeepsTheOrderOfTheAnswers: ten thousand joins in one microsecond from
// four processes, their ids in falling order.
func TestRQ02_OneInstantKeepsTheOrderOfTheAnswers(t *testing.T) {
	t.Parallel()
	s := newStage(t, redistest.Real(t), testRules())
	s.room.Rules.Capacity = 1
	const each = 2500
	var mu sync.Mutex
	var places []queue.Ticket
	var wg sync.WaitGroup
	for p := range 4 {
		line := s.another()
		wg.Go(func() {
			for i := range each {
				id := queue.ID(fmt.Sprintf("v%06d-%d", 999_999-i, p))
				got, err := line.Join(context.Background(), s.room, id, nil)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				places = append(places, queue.Ticket{Room: s.room.Name, Generation: got.Generation, ID: id, Place: got.Place})
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.SortFunc(places, func(a, b queue.Ticket) int { return cmp.Compare(a.Place, b.Place) })
	for i := 1; i < len(places); i++ {
		if places[i].Place == places[i-1].Place {
			t.Fatalf("%s and %s have one place %d", places[i-1].ID, places[i].ID, places[i].Place)
		}
	}
	line := s.rdb.ZRange(t.Context(), s.key("waiting"), 0, -1).Val()
	for i, id := range line { // the first went straight in
		if id != string(places[i+1].ID) {
			t.Fatalf("rank %d has %s, the answers say %s", i, id, places[i+1].ID)
		}
	}
	again, err := s.line.Join(t.Context(), s.room, places[1].ID, nil)
	if err != nil || again.New || again.Ahead != 0 || again.Place != places[1].Place {
		t.Errorf("joining again answered %+v (%v), want the first place unchanged", again, err)
	}
}

// TestRQ02_PlacesEndWithAnErrorNotWithATie: behind 2^53 a double has no next integer.
func TestRQ02_PlacesEndWithAnErrorNotWithATie(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s := newStage(t, rdb, testRules())
		s.join(1)
		rdb.HSet(t.Context(), s.key("room"), "last", "9007199254740981") // 2^53 - 11
		seen := map[int64]bool{}
		for i := range 10 {
			got, err := s.line.Join(t.Context(), s.room, queue.ID(fmt.Sprint("late-", i)), nil)
			if err != nil || seen[got.Place] {
				t.Fatalf("join %d answered place %d, seen before: %v, error %v", i, got.Place, seen[got.Place], err)
			}
			seen[got.Place] = true
		}
		if got, err := s.line.Join(t.Context(), s.room, "too-late", nil); err == nil {
			t.Errorf("a place above 2^53 - 1 was given: %d", got.Place)
		}
	})
}

// TestRQ04_AWorkerThatWasPausedAdmitsNothingExtra: three workers, one of them stopped for
// minutes at a time. There is no leader, so none can be stale.
func TestRQ04_AWorkerThatWasPausedAdmitsNothingExtra(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		r := testRules()
		r.Capacity, r.Interval, r.Burst = 1000, 100*time.Millisecond, 1
		s := newStage(t, rdb, r)
		workers := []*queue.Line{s.another(), s.another(), s.another()}
		tickets := s.join(600)
		var admitted []int64 // when, µs
		for tick := range 400 {
			s.advance(50 * time.Millisecond)
			if tick%20 == 0 {
				s.poll(tickets)
			}
			for i, w := range workers {
				if i == 0 && tick%200 < 190 {
					continue // stopped
				}
				got, err := w.Admit(t.Context(), s.room)
				if err != nil {
					t.Fatal(err)
				}
				for range got.Admitted {
					admitted = append(admitted, s.now)
				}
			}
		}
		if n := len(admitted); n < 195 || n > 202 {
			t.Errorf("%d were let in within 20 s at 10 a second", n)
		}
		from := 0
		for to := range admitted {
			for admitted[to]-admitted[from] >= 1_000_000 {
				from++
			}
			if n := to - from + 1; n > 10+1 {
				t.Fatalf("%d were let in within one second, want at most the rate of 10 and the burst of 1", n)
			}
		}
	})
}

// TestRQ05_AMillionAbsentAreLookedAtInBoundedSteps, with fewer than a million here: the
// bound of a step does not depend on the length of the line.
func TestRQ05_AMillionAbsentAreLookedAtInBoundedSteps(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := newStage(t, server.Client(t), quick(100))
	const absent = 50_000
	pipe := s.rdb.Pipeline()
	for i := range absent {
		pipe.ZAdd(t.Context(), s.key("waiting"), redis.Z{Member: fmt.Sprintf("absent-%015d", i), Score: float64(s.now - 1_000_000 + int64(i))})
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	living := s.join(1)
	s.rdb.ConfigSet(t.Context(), "slowlog-log-slower-than", "10000")
	s.rdb.Do(t.Context(), "SLOWLOG", "RESET")
	steps := 0
	for ; s.poll(living)[0].State == queue.Waiting; steps++ {
		tick := s.admit()
		if looked := tick.Admitted + tick.Aside + tick.Dropped; looked > 500 {
			t.Fatalf("one step looked at %d tickets", looked)
		}
		if steps > absent/500+1 {
			t.Fatalf("the living visitor still waits after %d steps", steps)
		}
	}
	slow := s.rdb.Do(t.Context(), "SLOWLOG", "LEN").Val().(int64)
	t.Logf("%d absent passed over in %d steps, %d of them slower than 10 ms", absent, steps, slow)
	if slow > int64(steps)/20 { // a busy machine may stop Redis in the middle of a few
		t.Errorf("%d of %d steps took longer than 10 ms", slow, steps)
	}
}

// TestHeartbeat_AShortOneDoesNotStopALineOfOne: the only visitor who asks is told to come
// back later than the heartbeat; that is no outage.
func TestHeartbeat_AShortOneDoesNotStopALineOfOne(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		r := testRules()
		r.Capacity, r.Interval, r.Burst, r.Heartbeat, r.ClaimWindow = 5, time.Minute, 1, 5*time.Second, 2*time.Minute
		s := newStage(t, rdb, r)
		tickets := s.join(3) // one straight in, the head of the line away, one who asks
		for asked := time.Duration(0); asked < 5*time.Minute; asked += 20 * time.Second {
			if s.poll(tickets[2:])[0].State == queue.Admitted {
				return
			}
			for range 200 {
				s.advance(100 * time.Millisecond)
				s.admit()
			}
		}
		t.Error("the living visitor was not let in within five minutes at one a minute")
	})
}

// TestRQ01_AFullRedisRefusesAJoinWhole: noeviction makes writes fail; nothing of a join is
// left half done, and who waits finds the place again when there is memory.
func TestRQ01_AFullRedisRefusesAJoinWhole(t *testing.T) {
	t.Parallel()
	s := newStage(t, redistest.Start(t, "--maxmemory-policy", "noeviction").Client(t), testRules())
	s.room.Rules.Capacity = 1
	waiting := s.join(3)[2:]
	s.rdb.ConfigSet(t.Context(), "maxmemory", "1")
	before := s.rdb.HGetAll(t.Context(), s.key("room")).Val()
	if _, err := s.line.Join(t.Context(), s.room, "too-late", nil); !errors.Is(err, queue.ErrStore) {
		t.Fatalf("a join of a full Redis: %v, want ErrStore", err)
	}
	if after := s.rdb.HGetAll(t.Context(), s.key("room")).Val(); !maps.Equal(before, after) {
		t.Errorf("the refused join changed the room from %v to %v", before, after)
	}
	if n := s.rdb.ZCard(t.Context(), s.key("waiting")).Val(); n != 2 {
		t.Errorf("waiting has %d ids after a refused join, want 2", n)
	}
	s.rdb.ConfigSet(t.Context(), "maxmemory", "0")
	if at := s.poll(waiting)[0]; at.State != queue.Waiting || at.Ahead != 1 {
		t.Errorf("a visitor from before is %s with %d ahead, want waiting with 1", at.State, at.Ahead)
	}
	if got, err := s.line.Join(t.Context(), s.room, "too-late", nil); err != nil || !got.New {
		t.Errorf("the join sent again: %+v, %v", got, err)
	}
}
