package queue_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/queue"
)

// errKilled is what a process that was killed at a call to Redis would never see.
var errKilled = errors.New("killed here")

// kills is a hook that counts the commands of a client and cuts some of them: before
// Redis gets them, or after it carried them out.
type kills struct {
	fate     func() (apply bool, err error)
	commands atomic.Int64
}

func (*kills) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*kills) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (k *kills) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		k.commands.Add(1)
		apply, killed := true, error(nil)
		if k.fate != nil {
			apply, killed = k.fate()
		}
		if apply {
			if err := next(ctx, cmd); err != nil {
				return err
			}
		}
		if killed != nil {
			cmd.SetErr(killed)
		}
		return killed
	}
}

func hooked(t *testing.T, s *redistest.Server, k *kills) *redis.Client {
	c := redis.NewClient(s.Options())
	t.Cleanup(func() { _ = c.Close() })
	c.AddHook(k)
	return c
}

// TestKill_EveryStepIsOneCall: between two calls of one step a process could die; no step
// makes two.
func TestKill_EveryStepIsOneCall(t *testing.T) {
	t.Parallel()
	k := &kills{}
	line := queue.New(hooked(t, redistest.Start(t), k))
	room := queue.Room{Name: redistest.RoomName(t), Rules: testRules()}
	ctx := t.Context()
	var ticket queue.Ticket
	steps := []struct {
		name string
		do   func() error
	}{
		{"join", func() error {
			got, err := line.Join(ctx, room, "one", nil)
			ticket = queue.Ticket{Room: room.Name, Generation: got.Generation, ID: "one", Place: got.Place}
			return err
		}},
		{"poll", func() error { _, err := line.Poll(ctx, room, []queue.Ticket{ticket}); return err }},
		{"claim", func() error { _, err := line.Claim(ctx, room, ticket); return err }},
		{"touch", func() error {
			_, err := line.Touch(ctx, room, []queue.Inside{{ID: ticket.ID, Generation: ticket.Generation}})
			return err
		}},
		{"redeem", func() error { _, err := line.Redeem(ctx, room, "token", ticket.Generation, time.Minute); return err }},
		{"away", func() error { return line.Away(ctx, room, ticket.ID) }},
		{"leave", func() error { _, err := line.Leave(ctx, room, ticket); return err }},
		{"admit", func() error { _, err := line.Admit(ctx, room); return err }},
		{"status", func() error { _, err := line.Status(ctx, room); return err }},
		{"reset", func() error { _, err := line.Reset(ctx, room, 1); return err }},
	}
	for _, s := range steps { // once to load the scripts
		if err := s.do(); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
	}
	for _, s := range steps {
		before := k.commands.Load()
		if err := s.do(); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if n := k.commands.Load() - before; n != 1 {
			t.Errorf("%s makes %d calls, want 1", s.name, n)
		}
	}
}

// TestKill_AdmittersDyingAtAnyCallLoseNobody: four workers admit at once; every other call
// dies, half of them before and half after Redis carried it out. All who wait get in, once.
func TestKill_AdmittersDyingAtAnyCallLoseNobody(t *testing.T) {
	t.Parallel()
	const people, capacity = 400, 7
	for seed := range uint64(5) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			s := newStage(t, server.Client(t), quick(capacity))
			waiting := s.join(people)
			inside := map[queue.ID]bool{}
			for round := 0; len(waiting) > 0; round++ {
				if round > 50*people {
					t.Fatalf("%d people are still in the line", len(waiting))
				}
				s.advance(10_000_000)
				s.admitAndDie(server, seed+uint64(round))
				if n := s.rdb.ZCard(t.Context(), s.key("active")).Val(); n > capacity {
					t.Fatalf("active has %d ids, capacity is %d", n, capacity)
				}
				waiting = s.letThrough(waiting, inside)
			}
			if len(inside) != people {
				t.Errorf("%d of %d got in", len(inside), people)
			}
			if n := s.rdb.HGet(t.Context(), s.key("room"), "admitted").Val(); n != fmt.Sprint(people) {
				t.Errorf("%s turns were given to %d people", n, people)
			}
		})
	}
}

// admitAndDie runs one tick in each of four processes at once; about half are killed.
func (s *stage) admitAndDie(server *redistest.Server, seed uint64) {
	var wg sync.WaitGroup
	for i := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, i))
		k := &kills{fate: func() (bool, error) {
			if r.IntN(2) == 0 {
				return true, nil
			}
			return r.IntN(2) == 0, errKilled
		}}
		c := hooked(s.t, server, k)
		line := queue.New(c, queue.WithClock(func() int64 { return s.now }))
		wg.Go(func() {
			defer func() { _ = c.Close() }()
			if _, err := line.Admit(context.Background(), s.room); err != nil && !errors.Is(err, errKilled) {
				s.t.Error(err)
			}
		})
	}
	wg.Wait()
}

// letThrough polls for all, takes the turns up in the order of the line, leaves at once,
// and returns who still waits. A turn must never pass somebody who lives.
func (s *stage) letThrough(waiting []queue.Ticket, inside map[queue.ID]bool) []queue.Ticket {
	s.t.Helper()
	standings := s.poll(waiting)
	in := 0
	for i, at := range standings {
		switch at.State {
		case queue.Waiting:
			continue
		case queue.Admitted:
		default:
			s.t.Fatalf("%s is %s", waiting[i].ID, at.State)
		}
		if i != in {
			s.t.Fatalf("%s was let in before %s", waiting[i].ID, waiting[in].ID)
		}
		in++
		if inside[waiting[i].ID] {
			s.t.Fatalf("%s was let in twice", waiting[i].ID)
		}
		inside[waiting[i].ID] = true
		if got, err := s.line.Claim(context.Background(), s.room, waiting[i]); err != nil || got.State != queue.Active {
			s.t.Fatalf("claim of %s answered %s, %v", waiting[i].ID, got.State, err)
		}
		if _, err := s.line.Leave(context.Background(), s.room, waiting[i]); err != nil {
			s.t.Fatal(err)
		}
	}
	return slices.Clone(waiting[in:])
}
