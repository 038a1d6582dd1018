package queue

import (
	"context"
	"time"
)

const (
	// Slack is how much pace a tick that came late may make up for while the line
	// was held back by the pace: in any window W at most (W + Slack)/Interval + Burst
	// are admitted.
	Slack = 100 * time.Millisecond
	// admitMost and admitScan bound one call: the most to let in, the most to look at.
	admitMost, admitScan = 500, 500
)

// Tick is what one Admit did, and what it saw.
type Tick struct {
	Admitted int64
	// Aside is how many away tickets were passed over; they keep their place.
	Aside int64
	// Dropped is how many had been away for longer than keep_place.
	Dropped int64
	// Expired is how many slots ended, NoShows among them.
	Expired, NoShows int64
	Waiting, Active  int64
	// More is true when the call stopped at its bound with work left.
	More bool
	// NextIn is when the pace allows the next, 0 when the pace is not what holds the line.
	NextIn time.Duration
	// Held is for how long admission waits for a forgotten line to re-form.
	Held time.Duration
}

// Admit drops slots that ended and lets in as many living tickets from the head of the
// line as capacity and pace allow, in one atomic step. Any number of workers may call it.
func (l *Line) Admit(ctx context.Context, room Room) (Tick, error) {
	r := room.Rules
	own := append([]any{r.places(), us(r.Interval), r.Burst, us(Slack), ms(r.ClaimWindow), admitMost, admitScan}, waitBounds...)
	v, err := l.call(ctx, "admit", admitScript, room, own...)
	if err != nil {
		return Tick{}, err
	}
	l.mem.of(room.Name).saw(v[10])
	return Tick{
		Admitted: v[0], Aside: v[1], Dropped: v[2], Expired: v[3], NoShows: v[4],
		Waiting: v[5], Active: v[6], More: v[7] == 1,
		NextIn: time.Duration(v[8]) * time.Microsecond, Held: fromMS(v[9]),
	}, nil
}
