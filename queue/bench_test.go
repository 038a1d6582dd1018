package queue_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/queue"
)

// fillRoom puts n tickets into a line whose only slot is taken, by polls of tickets that
// the line does not know.
func fillRoom(b *testing.B, line *queue.Line, n int) (queue.Room, []queue.Ticket) {
	b.Helper()
	room := queue.Room{Name: redistest.RoomName(b), Rules: testRules()}
	room.Rules.Capacity = 1
	first, err := line.Join(b.Context(), room, "the-first-of-the-line-", nil)
	if err != nil {
		b.Fatal(err)
	}
	tickets := make([]queue.Ticket, n)
	for i := range tickets {
		tickets[i] = queue.Ticket{
			Room: room.Name, Generation: first.Generation, ID: queue.ID(fmt.Sprintf("visitor-%014d", i)), Place: first.Place + 1 + int64(i),
		}
	}
	for batch := range slices.Chunk(tickets, queue.MaxPolls) {
		if got, err := line.Poll(b.Context(), room, batch); err != nil || got[0].State != queue.Waiting {
			b.Fatalf("filling: %+v, %v", got, err)
		}
	}
	return room, tickets
}

// BenchmarkLinePoll is the time a ticket of batches from one to full, 100,000 waiting.
func BenchmarkLinePoll(b *testing.B) {
	rdb := redistest.Start(b).Client(b)
	line := queue.New(rdb)
	room, tickets := fillRoom(b, line, 100_000)
	for _, size := range []int{1, 8, 32, queue.MaxPolls} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			b.ReportAllocs()
			at, polls := 0, 0
			for b.Loop() {
				at = (at + 7919*size) % (len(tickets) - size)
				if _, err := line.Poll(b.Context(), room, tickets[at:at+size]); err != nil {
					b.Fatal(err)
				}
				polls += size
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(polls), "ns/ticket")
		})
	}
}

// instant answers at once: what is left is the grouping.
type instant struct {
	standings [queue.MaxPolls]queue.Standing
}

func (i *instant) Poll(_ context.Context, _ queue.Room, tickets []queue.Ticket) ([]queue.Standing, error) {
	return i.standings[:len(tickets)], nil
}

func BenchmarkGroupPoll(b *testing.B) {
	g := queue.NewGroup(&instant{}, time.Second)
	room := queue.Room{Name: "sale", Rules: testRules()}
	b.SetParallelism(32)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := g.Poll(b.Context(), room, queue.Ticket{}); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkTicket(b *testing.B) {
	signer, err := queue.NewSigner(make([]byte, 32))
	if err != nil {
		b.Fatal(err)
	}
	t := queue.Ticket{Room: "sale", Generation: 1, ID: signer.DeriveID("sale", "s", 0), Place: 1_764_556_800_000_000, Target: "https://shop.test/cart"}
	token, err := signer.Sign(t)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("sign", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := signer.Sign(t); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := signer.Parse("sale", token); err != nil {
				b.Fatal(err)
			}
		}
	})
}
