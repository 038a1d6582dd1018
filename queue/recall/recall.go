package recall

import (
	"context"
	"hash/maphash"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anteroom/anteroom/queue"
)

// What bounds the error, and the delay of a heartbeat.
const (
	MemoryPolls = 11                     // answers from memory between two exact ones
	ExactEvery  = 60 * time.Second       // and for no longer than this
	FreshFor    = 2 * time.Second        // without a word of the line no answer comes from memory
	FlushEvery  = 500 * time.Millisecond // heartbeats are written behind
	nearWait    = 5 * time.Second        // who is about to enter is asked about exactly
	nearPeople  = 32
	shards      = 64
)

// Poller answers a poll exactly; queue.Group does.
type Poller interface {
	Poll(ctx context.Context, room queue.Room, t queue.Ticket) (queue.Standing, error)
}

// Line is what Recall asks of the line beside exact polls.
type Line interface {
	Beats(ctx context.Context, room queue.Room, beats []queue.Beat) (queue.Seen, error)
	Plan(room queue.Room) queue.PollPlan
}

// Recall answers polls. It is safe for concurrent use; Run has to be running.
type Recall struct {
	exact Poller
	line  Line
	log   *slog.Logger
	now   func() time.Time
	seed  maphash.Seed
	rooms sync.Map // name → *room; bounded by the rooms file
	m     metrics
}

// New answers from memory over exact. Run writes the heartbeats.
func New(exact Poller, line Line, log *slog.Logger, reg prometheus.Registerer) *Recall {
	return &Recall{exact: exact, line: line, log: log, now: time.Now, seed: maphash.MakeSeed(), m: newMetrics(reg)}
}

// Poll is queue.Group.Poll, mostly without a call to Redis. Its Standing may be off as the
// package says.
func (c *Recall) Poll(ctx context.Context, at queue.Room, t queue.Ticket) (queue.Standing, error) {
	r, now := c.room(at), c.now()
	if s, ok := c.remembered(r, at, t, now); ok {
		c.m.memory.Inc()
		return s, nil
	}
	c.m.exact.Inc()
	s, err := c.exact.Poll(ctx, at, t)
	if err != nil {
		return s, err
	}
	return c.remember(r, t, s, now), nil
}

// Forget makes the next poll of a ticket an exact one, and lets no heartbeat of before be
// written.
func (c *Recall) Forget(name string, id queue.ID) {
	if v, ok := c.rooms.Load(name); ok {
		v.(*room).forget(id, maphash.String(c.seed, string(id)))
	}
}

func (c *Recall) room(at queue.Room) *room {
	v, ok := c.rooms.Load(at.Name)
	if !ok {
		v, _ = c.rooms.LoadOrStore(at.Name, newRoom(at))
	}
	r := v.(*room)
	r.rules.Store(&at.Rules)
	return r
}

// remembered is the answer from memory, if there is one that is good enough.
func (c *Recall) remembered(r *room, at queue.Room, t queue.Ticket, now time.Time) (queue.Standing, bool) {
	seen, fresh := r.seen(now)
	if !fresh || seen.Held > 0 || seen.Generation != t.Generation {
		return queue.Standing{}, false
	}
	plan := r.plan(c.line, at, now)
	s := r.shard(maphash.String(c.seed, string(t.ID)))
	s.mu.Lock()
	defer s.mu.Unlock()
	e, known := s.tickets[t.ID]
	if !known || !e.good(t, seen.Mark, at.Rules, now) {
		return queue.Standing{}, false
	}
	if !e.move(seen.Mark, &r.moves) || e.shown < nearPeople || time.Duration(e.shown)*plan.PerPerson < nearWait {
		return queue.Standing{}, false
	}
	e.polls, e.polled = e.polls+1, now
	s.tickets[t.ID] = e
	after := plan.After(e.shown)
	s.beats = append(s.beats, queue.Beat{ID: t.ID, PollAfter: after})
	return queue.Standing{State: queue.Waiting, Ahead: e.shown, PollAfter: after, Generation: seen.Generation, Mark: seen.Mark}, true
}

// remember keeps an exact answer, and gives it with a number that has not risen.
func (c *Recall) remember(r *room, t queue.Ticket, s queue.Standing, now time.Time) queue.Standing {
	r.hear(queue.Seen{Mark: s.Mark, Held: s.Held, Generation: s.Generation}, now)
	sh := r.shard(maphash.String(c.seed, string(t.ID)))
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if s.State != queue.Waiting || s.Held > 0 {
		delete(sh.tickets, t.ID)
		return s
	}
	shown := s.Ahead
	if e, known := sh.tickets[t.ID]; known && e.place == t.Place && e.mark.Made == s.Mark.Made {
		shown = min(shown, e.shown)
	}
	sh.tickets[t.ID] = ticket{place: t.Place, ahead: s.Ahead, mark: s.Mark, shown: shown, exact: now, polled: now}
	s.Ahead = shown
	return s
}
