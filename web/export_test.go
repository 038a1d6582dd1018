package web

import (
	"context"

	"github.com/anteroom/anteroom/queue"
)

// PollDoor is the door of polls by itself.
func PollDoor(l *Limits, ctx context.Context, id queue.ID) error { //nolint:revive // the receiver goes first
	return l.poll(ctx, id)
}
