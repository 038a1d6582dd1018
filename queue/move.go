package queue

import (
	"context"
	"time"
)

// Offer lets whoever has the code (at most 64 bytes, a secret) take a ticket's place over
// within a time, once. It answers where the ticket stands: an offer was made where that is
// waiting, admitted or active.
func (l *Line) Offer(ctx context.Context, room Room, t Ticket, code string, lasts time.Duration) (State, error) {
	v, err := l.onKey(ctx, "offer", offerScript, room, keyOffer(room.Name, code), string(t.ID), t.Place, t.Generation, max(1, ms(lasts)))
	if err != nil {
		return "", err
	}
	return stateOf(v[0]), nil
}

// Move takes the place of an offer over for a new id. The old ticket is spent; it will be
// told Moved. The state is Expired when there is no such offer, or not any more.
func (l *Line) Move(ctx context.Context, room Room, code string, id ID) (Joined, error) {
	v, err := l.onKey(ctx, "move", moveScript, room, keyOffer(room.Name, code), string(id))
	if err != nil {
		return Joined{}, err
	}
	return Joined{Standing: Standing{State: stateOf(v[0]), Left: fromMS(v[2]), Generation: v[3]}, Place: v[1]}, nil
}
