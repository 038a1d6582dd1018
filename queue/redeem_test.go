package queue_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/queue"
)

func TestRedeem_IsTrueOnce(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s := newStage(t, rdb, testRules())
		ticket := s.join(1)[0]
		var first atomic.Int64
		var wg sync.WaitGroup
		for range 50 {
			line := s.another()
			wg.Go(func() {
				if ok, err := line.Redeem(t.Context(), s.room, "token", ticket.Generation, time.Minute); err != nil {
					t.Error(err)
				} else if ok {
					first.Add(1)
				}
			})
		}
		wg.Wait()
		if n := first.Load(); n != 1 {
			t.Errorf("%d of 50 redeemed one token, want 1", n)
		}
		if ttl := rdb.PTTL(t.Context(), s.key("used:token")).Val(); ttl <= 0 || ttl > time.Minute {
			t.Errorf("the use is remembered for %v, want up to a minute", ttl)
		}
		if _, err := s.line.Reset(t.Context(), s.room, ticket.Generation); err != nil {
			t.Fatal(err)
		}
		if ok, err := s.line.Redeem(t.Context(), s.room, "another", ticket.Generation, time.Minute); ok || err != nil {
			t.Errorf("a token of the old generation answered %v, %v", ok, err)
		}
	})
}

// TestTouch_ExtendsReleasesAndRetakes is what the gate relies on.
func TestTouch_ExtendsReleasesAndRetakes(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s := newStage(t, rdb, testRules())
		ticket := s.join(1)[0]
		if at, err := s.line.Claim(t.Context(), s.room, ticket); err != nil || at.State != queue.Active {
			t.Fatalf("claim answered %s, %v", at.State, err)
		}
		touch := func(ends time.Duration, extend time.Duration) queue.Standing {
			t.Helper()
			at := time.UnixMicro(s.now)
			got, err := s.line.Touch(t.Context(), s.room, []queue.Inside{{ID: ticket.ID, Generation: ticket.Generation, Ends: at.Add(ends), Extend: extend, Most: time.Hour, Since: at}})
			if err != nil {
				t.Fatal(err)
			}
			return got[0]
		}
		s.advance(15 * time.Second)
		if at := touch(5*time.Second, 0); at.State != queue.Active || at.Left != 5*time.Second {
			t.Errorf("a touch that extends nothing answered %s with %v left, want active with 5s", at.State, at.Left)
		}
		if at := touch(5*time.Second, 20*time.Second); at.Left != 20*time.Second {
			t.Errorf("an extending touch left %v, want 20s", at.Left)
		}
		if at := touch(5*time.Second, time.Second); at.Left != 20*time.Second {
			t.Errorf("a touch shortened the slot to %v", at.Left)
		}
		rdb.Del(t.Context(), s.key("active"), s.key("spent"), s.key("room"))
		if at := touch(7*time.Second, 0); at.State != queue.Active || at.Left != 7*time.Second {
			t.Errorf("a pass that Redis forgot answered %s with %v left, want active with 7s", at.State, at.Left)
		}
		if _, err := s.line.Release(t.Context(), s.room, ticket.ID); err != nil {
			t.Fatal(err)
		}
		if at := touch(7*time.Second, 20*time.Second); at.State != queue.Expired {
			t.Errorf("a released pass is %s, want expired", at.State)
		}
	})
}

// However often a turn is claimed, and whatever a pass says, a session has its most.
func TestTouch_ASessionHasItsMost(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s := newStage(t, rdb, testRules()) // a session of 20 s
		ticket := s.join(1)[0]
		began, last := s.now, int64(0)
		for range 60 {
			at, err := s.line.Claim(t.Context(), s.room, ticket)
			if err != nil {
				t.Fatal(err)
			}
			if at.State == queue.Active {
				last = s.now
				if want := time.Duration(s.now-began) * time.Microsecond; at.Inside.Round(time.Millisecond) != want {
					t.Fatalf("inside for %v by the claim, want %v", at.Inside, want)
				}
			}
			now := time.UnixMicro(s.now)
			if _, err := s.line.Touch(t.Context(), s.room, []queue.Inside{{ID: ticket.ID, Generation: ticket.Generation, Ends: now.Add(time.Second), Extend: 20 * time.Second, Most: 45 * time.Second, Since: now}}); err != nil {
				t.Fatal(err)
			}
			s.advance(2 * time.Second)
		}
		if took := time.Duration(last-began) * time.Microsecond; took < 40*time.Second || took > 45*time.Second {
			t.Errorf("a busy session of at most 45 s lasted %v", took)
		}
	})
}
