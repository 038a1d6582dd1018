package rehearse

import (
	"container/heap"
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// agenda is a heap of visitors by the time at which each acts next.
type agenda struct {
	actors []*actor
	who    []int // indices of actors, in heap order
}

func (q *agenda) Len() int           { return len(q.who) }
func (q *agenda) Less(i, j int) bool { return q.actors[q.who[i]].due < q.actors[q.who[j]].due }
func (q *agenda) Swap(i, j int)      { q.who[i], q.who[j] = q.who[j], q.who[i] }
func (q *agenda) Push(x any)         { q.who = append(q.who, x.(int)) } //nolint:forcetypeassert // ours alone
func (q *agenda) Pop() any {
	last := len(q.who) - 1
	who := q.who[last]
	q.who = q.who[:last]
	return who
}

// traffic counts what was sent and what came of it.
type traffic struct {
	Requests int
	Probes   int // requests that a page would not send
	Refusals int // "join again"
	Faults   map[string]int
	Lag      []time.Duration // from when a request was due until it was sent
}

// outcome is the answer to one call.
type outcome struct {
	call
	answer
}

// crowd plays all visitors: one goroutine keeps their state and a heap of due times; a
// bounded number of workers sends. Each visitor has at most one request under way, so the
// channels never block the one goroutine.
type crowd struct {
	cfg      *Config
	wire     *wire
	manners  manners
	agenda   agenda
	history  History
	traffic  traffic
	open     int // visitors whose story goes on
	start    time.Time
	calls    chan call
	outcomes chan outcome
	tally    tally
}

func newCrowd(c *Config, rnd *rand.Rand, start time.Time) *crowd {
	cr := &crowd{
		cfg: c, wire: newWire(c, start), start: start, open: c.Visitors,
		manners:  manners{session: c.Session, sleepFor: c.SleepFor, origin: c.APIKey != "", rnd: rnd},
		history:  make(History, c.Visitors),
		traffic:  traffic{Faults: map[string]int{}},
		calls:    make(chan call, c.Visitors),
		outcomes: make(chan outcome, c.Visitors),
	}
	for i, p := range plans(c, rnd) {
		cr.agenda.actors = append(cr.agenda.actors, newActor(p, &cr.history[i]))
		cr.agenda.who = append(cr.agenda.who, i)
	}
	heap.Init(&cr.agenda)
	return cr
}

// play runs until every story ended or ctx is done. It leaves no goroutine behind.
func (cr *crowd) play(ctx context.Context, progress *progress) {
	ctx, cancel := context.WithCancel(ctx)
	var workers sync.WaitGroup
	for range cr.cfg.Connections * max(len(cr.cfg.URLs), 2*min(1, len(cr.cfg.Through))) {
		workers.Go(func() {
			for c := range cr.calls {
				if ctx.Err() != nil {
					return
				}
				cr.outcomes <- outcome{c, cr.wire.send(ctx, c)}
			}
		})
	}
	cr.direct(ctx, progress)
	cancel()
	close(cr.calls)
	workers.Wait()
	cr.wire.close()
}

// direct is the loop of the one goroutine.
func (cr *crowd) direct(ctx context.Context, progress *progress) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for cr.open > 0 {
		now := time.Since(cr.start)
		progress.show(now, cr)
		timer.Reset(max(0, min(cr.sendDue(now), progress.next)-now))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case o := <-cr.outcomes:
			cr.take(ctx, &o)
			for n := len(cr.outcomes); n > 0; n-- {
				o = <-cr.outcomes
				cr.take(ctx, &o)
			}
		}
	}
}

// sendDue hands out everything that is due, and returns when the next is.
func (cr *crowd) sendDue(now time.Duration) time.Duration {
	q := &cr.agenda
	for len(q.who) > 0 {
		a := q.actors[q.who[0]]
		if a.due > now {
			return a.due
		}
		who := heap.Pop(q).(int) //nolint:forcetypeassert // ours alone
		a.lastURL = cr.pick(a)
		cr.calls <- call{
			who: who, phase: a.phase, url: a.lastURL, due: a.due, key: a.key, ticket: a.ticket, pass: a.pass,
			jar: a.jar, address: a.address, desk: a.desk,
		}
	}
	return always
}

// pick chooses a server at random, but not the one that could just not be reached.
func (cr *crowd) pick(a *actor) int {
	n := len(cr.cfg.URLs)
	if a.jar != nil { // the page names its own server
		return 0
	}
	if !a.shun || n == 1 {
		return cr.manners.rnd.IntN(n)
	}
	return (a.lastURL + 1 + cr.manners.rnd.IntN(n-1)) % n
}

// take lets a visitor learn from an answer. An answer that our own end cut off says nothing.
func (cr *crowd) take(ctx context.Context, o *outcome) {
	if ctx.Err() != nil {
		return
	}
	t, a := &cr.traffic, cr.agenda.actors[o.who]
	sent := max(1, o.hops)
	t.Requests += sent
	t.Lag = append(t.Lag, o.sent-o.due)
	switch {
	case o.fault != "":
		t.Faults[o.fault]++
	case o.phase == looking || o.phase == again || o.phase == visiting || o.phase == returning:
		t.Probes += sent
	}
	if o.refused() && o.fault == "" && o.phase != looking {
		t.Refusals++
	}
	cr.tally.leave(a)
	a.take(&o.answer, &cr.manners)
	cr.tally.enter(a)
	if a.phase == ended {
		cr.open--
		return
	}
	heap.Push(&cr.agenda, o.who)
}
