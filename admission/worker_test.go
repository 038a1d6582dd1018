package admission_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anteroom/anteroom/admission"
	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/queue"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// scripted is a line whose ticks the test decides.
type scripted struct {
	mu    sync.Mutex
	ticks map[string]int
	admit func(room queue.Room, n int) (queue.Tick, error)
}

func (s *scripted) Admit(_ context.Context, room queue.Room) (queue.Tick, error) {
	s.mu.Lock()
	s.ticks[room.Name]++
	n := s.ticks[room.Name]
	s.mu.Unlock()
	return s.admit(room, n)
}

func (s *scripted) count(room string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ticks[room]
}

func newScripted(admit func(queue.Room, int) (queue.Tick, error)) *scripted {
	return &scripted{ticks: map[string]int{}, admit: admit}
}

func rooms(names ...string) []queue.Room {
	var out []queue.Room
	for _, n := range names {
		out = append(out, queue.Room{Name: n})
	}
	return out
}

// work runs a worker and returns how to stop it and wait for its end.
func work(t *testing.T, line admission.Admitter, of func() []queue.Room) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	w := admission.NewWorker(line, of, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	go func() { ended <- w.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v", err)
		}
	}
}

func TestWorker_TicksEveryRoomTenTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newScripted(func(queue.Room, int) (queue.Tick, error) { return queue.Tick{}, nil })
		stop := work(t, line, func() []queue.Room { return rooms("a", "b") })
		time.Sleep(10*time.Second + 50*time.Millisecond) // of the bubble's clock
		stop()
		for _, room := range []string{"a", "b"} {
			if n := line.count(room); n < 100 || n > 102 {
				t.Errorf("room %s was ticked %d times in 10 s, want about 101", room, n)
			}
		}
	})
}

func TestWorker_ComesWhenThePaceAllowsTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newScripted(func(queue.Room, int) (queue.Tick, error) {
			return queue.Tick{Waiting: 1, NextIn: 20 * time.Millisecond}, nil
		})
		stop := work(t, line, func() []queue.Room { return rooms("fast") })
		time.Sleep(time.Second + time.Millisecond)
		stop()
		if n := line.count("fast"); n < 50 || n > 52 {
			t.Errorf("ticked %d times in 1 s, want one each 20 ms", n)
		}
	})
}

func TestWorker_SlowsDownWhileRedisFailsAndGoesOnAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newScripted(func(_ queue.Room, n int) (queue.Tick, error) {
			if n <= 8 {
				return queue.Tick{}, errors.New("away")
			}
			return queue.Tick{}, nil
		})
		stop := work(t, line, func() []queue.Room { return rooms("a") })
		// 0.2 + 0.4 + 0.8 + 1.6 + four times 2 s
		time.Sleep(10900 * time.Millisecond)
		if n := line.count("a"); n != 8 {
			t.Errorf("%d attempts in 10.9 s of failure, want 8", n)
		}
		time.Sleep(1200 * time.Millisecond)
		stop()
		if n := line.count("a"); n < 15 {
			t.Errorf("%d ticks 1.1 s after the recovery, want ten a second again", n)
		}
	})
}

func TestWorker_AStepThatBeganIsFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		finished := false
		line := newScripted(func(queue.Room, int) (queue.Tick, error) {
			time.Sleep(time.Second)
			finished = true
			return queue.Tick{More: true}, nil
		})
		stop := work(t, line, func() []queue.Room { return rooms("a") })
		time.Sleep(100 * time.Millisecond)
		stop()
		if n := line.count("a"); !finished || n != 1 {
			t.Errorf("step finished: %v, steps: %d; want one finished step", finished, n)
		}
	})
}

func TestWorker_FollowsTheRoomsFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		current := rooms("old")
		line := newScripted(func(queue.Room, int) (queue.Tick, error) { return queue.Tick{}, nil })
		stop := work(t, line, func() []queue.Room { mu.Lock(); defer mu.Unlock(); return current })
		time.Sleep(1500 * time.Millisecond)
		mu.Lock()
		current = rooms("new")
		mu.Unlock()
		time.Sleep(2 * time.Second)
		old := line.count("old")
		time.Sleep(2 * time.Second)
		stop()
		if n := line.count("old"); n != old {
			t.Errorf("the removed room was ticked %d more times", n-old)
		}
		if n := line.count("new"); n < 20 {
			t.Errorf("the new room was ticked %d times", n)
		}
	})
}

func TestWorker_ARoomThatAlwaysHasMoreLeavesTimeToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newScripted(func(queue.Room, int) (queue.Tick, error) { return queue.Tick{More: true}, nil })
		stop := work(t, line, func() []queue.Room { return rooms("full") })
		time.Sleep(time.Second - time.Millisecond)
		stop()
		if n := line.count("full"); n > 200*50 {
			t.Errorf("%d steps in a second without a pause", n)
		}
	})
}

// TestRQ04_WorkersGoOnAfterRedisWasKilled without a restart of theirs.
func TestRQ04_WorkersGoOnAfterRedisWasKilled(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.AOF()...)
	rdb := server.Client(t)
	line := queue.New(rdb)
	room := queue.Room{Name: redistest.RoomName(t), Rules: queue.Rules{
		Capacity: 2, Interval: time.Millisecond, Burst: 1, Session: time.Minute,
		ClaimWindow: time.Minute, Heartbeat: time.Minute, KeepPlace: 10 * time.Minute,
	}}
	var tickets []queue.Ticket
	for _, id := range []queue.ID{"one", "two", "three"} {
		got, err := line.Join(t.Context(), room, id, nil)
		if err != nil {
			t.Fatal(err)
		}
		tickets = append(tickets, queue.Ticket{Room: room.Name, Generation: got.Generation, ID: id, Place: got.Place})
	}
	stop := work(t, line, func() []queue.Room { return []queue.Room{room} })
	defer stop()
	await(t, line, room, tickets[1], queue.Admitted)
	server.Kill()
	if _, err := line.Admit(t.Context(), room); err == nil {
		t.Fatal("a killed Redis answered")
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	if _, err := line.Leave(t.Context(), room, tickets[0]); err != nil {
		t.Fatal(err)
	}
	await(t, line, room, tickets[2], queue.Admitted)
}

// await polls until a ticket stands where it should.
func await(t *testing.T, line *queue.Line, room queue.Room, ticket queue.Ticket, want queue.State) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); <-tick.C {
		got, err := line.Poll(t.Context(), room, []queue.Ticket{ticket})
		if err == nil && got[0].State == want {
			return
		}
	}
	t.Fatalf("ticket %s is not %s after 20 s", ticket.ID, want)
}
