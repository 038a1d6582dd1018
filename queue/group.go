package queue

import (
	"context"
	"time"
)

// PollStep is the step that Group sends many polls in.
type PollStep interface {
	Poll(ctx context.Context, room Room, tickets []Ticket) ([]Standing, error)
}

// Group sends polls that come at the same time together.
type Group struct{ batches *batches[Ticket, Standing] }

// NewGroup groups polls on line; each call has timeout to be answered.
func NewGroup(line PollStep, timeout time.Duration) *Group {
	return &Group{newBatches(timeout, line.Poll)}
}

// Poll is Line.Poll for one ticket. It takes at most twice the timeout. When ctx ends
// first, its error is returned and the poll may still be carried out.
func (g *Group) Poll(ctx context.Context, room Room, t Ticket) (Standing, error) {
	return g.batches.ask(ctx, room, t)
}

// TouchStep is the step that Touches sends many passes in.
type TouchStep interface {
	Touch(ctx context.Context, room Room, passes []Inside) ([]Standing, error)
}

// Touches sends passes that are shown at the same time together.
type Touches struct{ batches *batches[Inside, Standing] }

// NewTouches groups touches on line; each call has timeout to be answered.
func NewTouches(line TouchStep, timeout time.Duration) *Touches {
	return &Touches{newBatches(timeout, line.Touch)}
}

// Touch is Line.Touch for one pass, with the bounds of Group.Poll.
func (g *Touches) Touch(ctx context.Context, room Room, p Inside) (Standing, error) {
	return g.batches.ask(ctx, room, p)
}
