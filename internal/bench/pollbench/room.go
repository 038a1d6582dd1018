package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/queue"
)

const (
	roomName = "bench"
	roomFile = "rooms:\n  - {name: bench, capacity: 1, rate: 600/m, targets: [shop.test], default_target: 'https://shop.test/'}\n"
	target   = "https://shop.test/cart?item=7"
)

func openRooms() (*rooms.Registry, error) {
	all, err := rooms.Parse("bench.yaml", []byte(roomFile))
	return rooms.Fixed(all...), err
}

// newTickets signs with a key that all processes of a run have; it guards nothing.
func newTickets() (*queue.Signer, error) { return queue.NewSigner(make([]byte, 32)) }

// fill puts n tickets into the line and returns their tokens. It shows signed tickets
// that the line does not know, which puts them at their places: MaxPolls a call, where a
// join is one a call.
func fill(ctx context.Context, line *queue.Line, n int) ([]string, error) {
	registry, err := openRooms()
	if err != nil {
		return nil, err
	}
	room, _ := registry.Get(roomName)
	signer, err := newTickets()
	if err != nil {
		return nil, err
	}
	// The first to come makes the room and takes its only slot, so that the rest wait.
	first, err := line.Join(ctx, room.Queue(), signer.DeriveID(roomName, "first", 0), nil)
	if err != nil {
		return nil, err
	}
	tickets, tokens := make([]queue.Ticket, n), make([]string, n)
	for i := range tickets {
		tickets[i] = queue.Ticket{
			Room: roomName, Generation: first.Generation, ID: signer.DeriveID(roomName, "visitor", i),
			Place: first.Place + 1 + int64(i), Target: target,
		}
		if tokens[i], err = signer.Sign(tickets[i]); err != nil {
			return nil, err
		}
	}
	for batch := range slices.Chunk(tickets, queue.MaxPolls) {
		standings, err := line.Poll(ctx, room.Queue(), batch)
		if err != nil {
			return nil, err
		}
		for _, s := range standings {
			if s.State != queue.Waiting {
				return nil, fmt.Errorf("a ticket is %s, want it to wait", s.State)
			}
		}
	}
	return tokens, nil
}
