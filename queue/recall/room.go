package recall

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anteroom/anteroom/queue"
)

// room is what is remembered of one line.
type room struct {
	name   string
	rules  atomic.Pointer[queue.Rules]
	latest atomic.Pointer[heard]
	pace   atomic.Pointer[paced]
	moves  moves
	shards [shards]shard
}

// heard is the last word of the line.
type heard struct {
	queue.Seen
	at time.Time
}

// paced is how the line's tickets are told to poll, as of a moment.
type paced struct {
	queue.PollPlan
	PerPerson time.Duration // of the wait
	at        time.Time
}

type shard struct {
	mu      sync.Mutex
	tickets map[queue.ID]ticket
	beats   []queue.Beat
	_       [64]byte // two shards share no line of the processor's cache
}

func newRoom(at queue.Room) *room {
	r := &room{name: at.Name}
	r.rules.Store(&at.Rules)
	for i := range r.shards {
		r.shards[i].tickets = map[queue.ID]ticket{}
	}
	return r
}

func (r *room) shard(hash uint64) *shard { return &r.shards[hash%shards] }

// seen is the last word of the line; false when it is too old to count.
func (r *room) seen(now time.Time) (queue.Seen, bool) {
	h := r.latest.Load()
	if h == nil || now.Sub(h.at) > FreshFor {
		return queue.Seen{}, false
	}
	return h.Seen, true
}

// hear takes a word of the line. Answers may overtake one another: of two with the same
// memory the later one is the one that saw more happen. A line that went back, in a failover that
// lost its last moments, is believed when the old word is no longer fresh.
func (r *room) hear(s queue.Seen, at time.Time) {
	next := &heard{s, at}
	for {
		h := r.latest.Load()
		if h != nil && at.Sub(h.at) <= FreshFor && (s.Mark.Made < h.Mark.Made || s.Mark.Made == h.Mark.Made && s.Mark.Before(h.Mark)) {
			return
		}
		if h != nil && h.Seen == s && at.Sub(h.at) < FlushEvery/2 {
			return // nothing new: most answers of a busy server
		}
		if r.latest.CompareAndSwap(h, next) {
			return
		}
	}
}

// told takes what a step announced. It says nothing of holds and generations: those are as
// they were heard last.
func (r *room) told(m queue.Moves, at time.Time) {
	r.moves.add(m)
	if h := r.latest.Load(); h != nil && h.Mark.Made == m.Mark.Made {
		r.hear(queue.Seen{Mark: m.Mark, Held: h.Held, Generation: h.Generation}, at)
	}
}

// plan is how tickets are told to poll; it is asked for once a second.
func (r *room) plan(line Line, at queue.Room, now time.Time) *paced {
	p := r.pace.Load()
	if p == nil || now.Sub(p.at) > time.Second {
		plan := line.Plan(at)
		p = &paced{PollPlan: plan, PerPerson: plan.PerAhead * queue.PollsOfWait, at: now}
		r.pace.Store(p)
	}
	return p
}

// pending takes the heartbeats that are to be written.
func (r *room) pending() []queue.Beat {
	var all []queue.Beat
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		all = append(all, s.beats...)
		s.beats = nil
		s.mu.Unlock()
	}
	return all
}

// forget drops a ticket, and its heartbeat that is not written yet: it may have gone away
// since.
func (r *room) forget(id queue.ID, hash uint64) {
	s := r.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.tickets[id]; !known {
		return
	}
	delete(s.tickets, id)
	s.beats = slices.DeleteFunc(s.beats, func(b queue.Beat) bool { return b.ID == id })
}

// sweep drops the tickets of visitors who have not asked for so long that the next answer is
// an exact one anyway, and returns how many are left.
func (r *room) sweep(now time.Time) (left int) {
	most := quiet(*r.rules.Load())
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		for id, t := range s.tickets {
			if now.Sub(t.polled) > most {
				delete(s.tickets, id)
			}
		}
		left += len(s.tickets)
		s.mu.Unlock()
	}
	return left
}
