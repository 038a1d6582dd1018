package rehearse

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"
)

// always is later than every moment of a run.
const always = time.Duration(math.MaxInt64)

// Order is what is known about first come, first served.
type Order struct {
	// Comparable is how many visitors are compared: those who never slept, left the line
	// or failed to show, and asked often enough all the time.
	Comparable int
	// Inversions counts pairs: the later one had been told its turn, and the earlier one
	// was told "waiting" to a request sent after that.
	Inversions int
	// Overtaken is how many visitors are the earlier one of such a pair.
	Overtaken int
	// Straddling counts pairs that one wipe of the store explains, at WipedAt: a turn
	// that was given before and forgotten. They are looked for only if a wipe is allowed.
	Straddling int
	WipedAt    time.Duration
	// Examples are the first few overtaken visitors.
	Examples []Overtaking
}

// Overtaking is one visitor that waited on while a later one's turn came. Its times are
// those of the evidence.
type Overtaking struct {
	Joined, LaterJoined time.Duration // the answer to the one's join, the sending of the other's
	Turn                Span          // the request that told the later one of its turn
	Waiting             Span          // the first request after that which told the earlier one to wait
	Asked               time.Duration // when the earlier one had been answered last before that
}

// maxExamples is how many overtaken visitors are shown.
const maxExamples = 5

// judgeOrder counts inversions in O(n log n).
func judgeOrder(h History, heartbeat time.Duration, wiped bool) Order {
	line := faithful(h, heartbeat)
	o := Order{Comparable: len(line)}
	all := inversions(line, -1, always)
	o.Inversions, o.Overtaken, o.Examples = all.pairs, len(all.overtaken), all.examples()
	if !wiped || all.pairs == 0 {
		return o
	}
	o.WipedAt = stab(all.overtaken)
	rest, after := inversions(line, -1, o.WipedAt), inversions(line, o.WipedAt, always)
	rest.pairs += after.pairs
	rest.overtaken = append(rest.overtaken, after.overtaken...)
	o.Inversions, o.Overtaken, o.Examples = rest.pairs, len(rest.overtaken), rest.examples()
	o.Straddling = all.pairs - o.Inversions
	return o
}

func faithful(h History, heartbeat time.Duration) []*Visitor {
	var line []*Visitor
	for i := range h {
		if h[i].faithful(heartbeat) {
			line = append(line, &h[i])
		}
	}
	return line
}

// found is the inversions of one stretch of time.
type found struct {
	pairs     int
	overtaken []Overtaking
}

func (f *found) examples() []Overtaking {
	slices.SortFunc(f.overtaken, func(a, b Overtaking) int { return cmp.Compare(a.Turn.Answered, b.Turn.Answered) })
	return f.overtaken[:min(maxExamples, len(f.overtaken))]
}

// granted is a turn: when its visitor joined, and the answer that told of it.
type granted struct {
	joinSent       time.Duration
	sent, answered time.Duration
}

// inversions compares turns told to requests sent after from, and answered before to, with
// waits answered before to. Visitors are taken from the last to join to the first, so that
// the tree always holds the turns of those who surely joined later.
func inversions(line []*Visitor, from, to time.Duration) found {
	var turns []granted
	for _, v := range line {
		if s, ok := v.turn(from); ok && s.Answered < to {
			turns = append(turns, granted{v.Joined.Sent, s.Sent, s.Answered})
		}
	}
	byTurn := make([]time.Duration, len(turns))
	for i, t := range turns {
		byTurn[i] = t.answered
	}
	slices.Sort(byTurn)
	slices.SortFunc(turns, func(a, b granted) int { return cmp.Compare(b.joinSent, a.joinSent) })
	earlier := slices.SortedFunc(slices.Values(line), func(a, b *Visitor) int {
		return cmp.Compare(b.Joined.Answered, a.Joined.Answered)
	})

	var out found
	counts := make(tree, len(turns)+1)
	first, next := granted{answered: always}, 0
	for _, a := range earlier {
		for ; next < len(turns) && turns[next].joinSent > a.Joined.Answered; next++ {
			counts.add(rank(byTurn, turns[next].answered))
			if turns[next].answered < first.answered {
				first = turns[next]
			}
		}
		last := a.lastWaiting(to)
		if first.answered >= last {
			continue
		}
		out.pairs += counts.sum(rank(byTurn, last))
		if s, asked, ok := a.firstWaiting(first.answered); ok {
			out.overtaken = append(out.overtaken, Overtaking{
				Joined: a.Joined.Answered, LaterJoined: first.joinSent, Turn: Span{first.sent, first.answered},
				Waiting: Span{s.Sent, s.Answered}, Asked: asked,
			})
		}
	}
	return out
}

// rank is how many of the sorted times are smaller than t.
func rank(sorted []time.Duration, t time.Duration) int {
	return sort.Search(len(sorted), func(i int) bool { return sorted[i] >= t })
}

// tree is a Fenwick tree: how many were added at ranks below a rank, in O(log n).
type tree []int

func (t tree) add(rank int) {
	for i := rank + 1; i < len(t); i += i & -i {
		t[i]++
	}
}

func (t tree) sum(below int) int {
	n := 0
	for i := below; i > 0; i -= i & -i {
		n += t[i]
	}
	return n
}

// stab finds the wipe that explains the most. A turn that a wipe made the store forget was
// forgotten between the request that told a later visitor of its turn and the answer that
// told the earlier one to wait. It returns the last moment of the first stretch that lies
// in the most of these spans: the wipe was then or a little before.
func stab(overtaken []Overtaking) time.Duration {
	edges := make([]edge, 0, 2*len(overtaken))
	for _, o := range overtaken {
		edges = append(edges, edge{o.Turn.Sent, 1}, edge{o.Waiting.Answered, -1})
	}
	_, from, _ := sweep(edges)
	last := always
	for _, o := range overtaken {
		if o.Waiting.Answered > from {
			last = min(last, o.Waiting.Answered)
		}
	}
	return last
}
