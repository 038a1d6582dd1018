package queue_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anteroom/anteroom/queue"
)

// slowStep answers after a while and remembers the sizes of its batches.
type slowStep struct {
	mu    sync.Mutex
	sizes []int
	takes time.Duration
	err   error
}

func (s *slowStep) Poll(ctx context.Context, _ queue.Room, tickets []queue.Ticket) ([]queue.Standing, error) {
	s.mu.Lock()
	s.sizes = append(s.sizes, len(tickets))
	s.mu.Unlock()
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	out := make([]queue.Standing, len(tickets))
	for i := range out {
		out[i] = queue.Standing{State: queue.Waiting, Ahead: tickets[i].Place}
	}
	return out, s.err
}

func TestGroup_PollsDuringACallGoTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		step := &slowStep{takes: 10 * time.Millisecond}
		g := queue.NewGroup(step, time.Second)
		var wg sync.WaitGroup
		for i := range 1000 {
			wg.Go(func() {
				s, err := g.Poll(t.Context(), queue.Room{Name: "r"}, queue.Ticket{Place: int64(i)})
				if err != nil || s.Ahead != int64(i) {
					t.Errorf("ticket %d got the answer of %d, %v", i, s.Ahead, err)
				}
			})
		}
		wg.Wait()
		total := 0
		for _, n := range step.sizes {
			if total += n; n > queue.MaxPolls {
				t.Errorf("a batch of %d", n)
			}
		}
		if total != 1000 || len(step.sizes) > 8 {
			t.Errorf("%d polls in %d calls: %v", total, len(step.sizes), step.sizes)
		}
	})
}

func TestGroup_ErrorsReachEveryCallerAndDeadlinesHold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failed := errors.New("redis is away")
		g := queue.NewGroup(&slowStep{err: failed}, time.Second)
		if _, err := g.Poll(t.Context(), queue.Room{Name: "r"}, queue.Ticket{}); !errors.Is(err, failed) {
			t.Errorf("Poll says %v", err)
		}
		g = queue.NewGroup(&slowStep{takes: time.Hour}, 300*time.Millisecond)
		began := time.Now()
		if _, err := g.Poll(t.Context(), queue.Room{Name: "r"}, queue.Ticket{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Poll on a hanging Redis says %v", err)
		}
		if took := time.Since(began); took != 300*time.Millisecond {
			t.Errorf("Poll on a hanging Redis took %v", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := g.Poll(ctx, queue.Room{Name: "r"}, queue.Ticket{}); !errors.Is(err, context.Canceled) {
			t.Errorf("Poll of a client that went away says %v", err)
		}
		<-time.After(time.Second) // of fake time: the call in flight ends
		synctest.Wait()
	})
}

// However many wait behind a Redis that hangs, nobody waits for more than two calls.
func TestGroup_NobodyWaitsForMoreThanTwoCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const timeout = 400 * time.Millisecond
		g := queue.NewGroup(&slowStep{takes: time.Hour}, timeout)
		var wg sync.WaitGroup
		for range 20 * queue.MaxPolls {
			wg.Go(func() {
				began := time.Now()
				_, err := g.Poll(t.Context(), queue.Room{Name: "r"}, queue.Ticket{})
				if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 2*timeout {
					t.Errorf("Poll says %v after %v", err, took)
				}
			})
		}
		wg.Wait()
	})
}

func ExampleSigner() {
	signer, _ := queue.NewSigner([]byte("a secret of at least thirty-two bytes"))
	id := signer.DeriveID("sale", "the visitor's secret", 0)
	token, _ := signer.Sign(queue.Ticket{Room: "sale", Generation: 1, ID: id, Place: 1_764_556_800_000_000})
	t, err := signer.Parse("sale", token)
	fmt.Println(t.Place, len(t.ID), err)
	_, err = signer.Parse("other", token)
	fmt.Println(err)
	// Output:
	// 1764556800000000 22 <nil>
	// queue: not a valid ticket: of another room
}

func FuzzParseTicket(f *testing.F) {
	signer, err := queue.NewSigner(make([]byte, 32))
	if err != nil {
		f.Fatal(err)
	}
	token, err := signer.Sign(queue.Ticket{Room: "sale", Generation: 1, ID: signer.DeriveID("sale", "s", 0), Place: 7, Target: "/x"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(token)
	f.Add("")
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := signer.Parse("sale", s)
		if err != nil {
			if !errors.Is(err, queue.ErrTicket) {
				t.Fatalf("Parse says %v", err)
			}
			return
		}
		again, err := signer.Sign(got)
		if err != nil || again != s {
			t.Fatalf("accepted %q, which reads as %+v and signs as %q", s, got, again)
		}
	})
}
