package queue

import (
	"context"
	"time"
)

// Redeem uses up a token of a room that is good once, by its id (at most 64 bytes) and its
// generation, 0 for a token of any. It is
// true for exactly one caller, whoever else asks at the same time. keep is for how long
// the use is remembered: past the token's end. A Redis that forgot the room has forgotten
// uses too.
func (l *Line) Redeem(ctx context.Context, room Room, token string, generation int64, keep time.Duration) (bool, error) {
	v, err := l.onKey(ctx, "redeem", redeemScript, room, keyUsed(room.Name, token), generation, max(1, ms(keep)))
	if err != nil {
		return false, err
	}
	return v[0] == 1, nil
}
