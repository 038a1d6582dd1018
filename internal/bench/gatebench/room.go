package main

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"slices"
	"time"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
)

// The sessions outlast the run by far, so that no pass is renewed in it.
const (
	roomName = "bench"
	session  = 2 * time.Hour
	roomFile = "rooms:\n  - {name: bench, capacity: 5000000, rate: 600/m, session: 2h, max_session: 8h, match: [{host: shop.test, path: /sale}]}\n"
)

func openRooms() (*rooms.Registry, error) {
	all, err := rooms.Parse("bench.yaml", []byte(roomFile))
	return rooms.Fixed(all...), err
}

// newPasses signs with a key that all processes of a run have; it guards nothing.
func newPasses() (*pass.Signer, error) {
	return pass.NewSigner("http://queue.test", ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
}

// enter lets n people in and returns their passes. It shows passes whose slots the line
// does not know, which gives them their slots: MaxPolls a call, where a join and a claim
// are one visitor a call.
func enter(ctx context.Context, line *queue.Line, n int) ([]string, error) {
	registry, err := openRooms()
	if err != nil {
		return nil, err
	}
	room, _ := registry.Get(roomName)
	signer, err := newPasses()
	if err != nil {
		return nil, err
	}
	// The first to come makes the room.
	first, err := line.Join(ctx, room.Queue(), queue.ID(queue.NewSecret()), nil)
	if err != nil {
		return nil, err
	}
	now, tokens, inside := time.Now(), make([]string, n), make([]queue.Inside, n)
	for i := range tokens {
		token, claims, err := signer.Sign(roomName, queue.NewSecret(), first.Generation, now, now.Add(session))
		if err != nil {
			return nil, err
		}
		tokens[i] = token
		inside[i] = queue.Inside{ID: queue.ID(claims.Visitor), Generation: claims.Generation, Ends: claims.Expires}
	}
	for batch := range slices.Chunk(inside, queue.MaxPolls) {
		standings, err := line.Touch(ctx, room.Queue(), batch)
		if err != nil {
			return nil, err
		}
		for _, s := range standings {
			if s.State != queue.Active {
				return nil, fmt.Errorf("a pass is %s, want it to be active", s.State)
			}
		}
	}
	return tokens, nil
}
