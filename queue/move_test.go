package queue_test

import (
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/queue"
)

// A place, a turn and a slot move to another device once, and the old one is told.
func TestMove_ThePlaceGoesAlongOnce(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s := newStage(t, rdb, quick(2))
		people := s.join(5) // two are let in
		s.admit()
		if _, err := s.line.Claim(t.Context(), s.room, people[0]); err != nil {
			t.Fatal(err)
		}
		for i, want := range []queue.State{queue.Active, queue.Admitted, queue.Waiting} {
			old, code, id := people[i], string(rune('a'+i)), queue.ID("another-device-"+string(rune('a'+i)))
			if got, err := s.line.Offer(t.Context(), s.room, old, code, time.Minute); err != nil || got != want {
				t.Fatalf("the offer of an %s ticket answered %s, %v", want, got, err)
			}
			before := s.poll([]queue.Ticket{old})[0]
			got, err := s.line.Move(t.Context(), s.room, code, id)
			if err != nil || got.State != want || got.Place != old.Place || got.Left != before.Left {
				t.Errorf("the move of an %s ticket answered %+v, %v", want, got, err)
			}
			moved := queue.Ticket{Room: s.room.Name, Generation: got.Generation, ID: id, Place: got.Place}
			if now := s.poll([]queue.Ticket{moved, old}); now[0].State != want || now[0].Ahead != before.Ahead || now[1].State != queue.Moved {
				t.Errorf("after the move the new ticket is %s with %d ahead, the old one %s", now[0].State, now[0].Ahead, now[1].State)
			}
			if again, err := s.line.Move(t.Context(), s.room, code, "a-third-device"); err != nil || again.State != queue.Expired {
				t.Errorf("a second use of the code answered %s, %v", again.State, err)
			}
			if claim, err := s.line.Claim(t.Context(), s.room, old); err != nil || claim.State != queue.Moved {
				t.Errorf("the old ticket's claim answered %s, %v", claim.State, err)
			}
		}
		if got, err := s.line.Offer(t.Context(), s.room, people[0], "late", time.Minute); err != nil || got != queue.Expired {
			t.Errorf("an offer of a moved ticket answered %s, %v", got, err)
		}
		if n := rdb.ZCard(t.Context(), s.key("active")).Val(); n != 2 {
			t.Errorf("active has %d ids, want 2", n)
		}
	})
}

func TestMove_FiftyAtOnceAreOne(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s := newStage(t, rdb, quick(1))
		people := s.join(3)
		if _, err := s.line.Offer(t.Context(), s.room, people[1], "code", time.Minute); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		moved := 0
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				got, err := s.another().Move(t.Context(), s.room, "code", queue.ID("device-"+string(rune('A'+i))))
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				} else if got.State == queue.Waiting {
					moved++
				}
			})
		}
		wg.Wait()
		if n := rdb.ZCard(t.Context(), s.key("waiting")).Val(); moved != 1 || n != 2 {
			t.Errorf("%d of 50 took the place over, waiting has %d ids; want 1 and 2", moved, n)
		}
	})
}
