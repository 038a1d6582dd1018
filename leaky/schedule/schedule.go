package schedule

import (
	"errors"
	"fmt"
	"math/bits"
)

// ErrShares is wrapped by what New finds wrong.
var ErrShares = errors.New("schedule: lane shares")

// Share is the weight of one lane. Only the ratio of weights counts.
type Share struct {
	Lane   string
	Weight float64 // over 0, at most a million
}

// Lanes is the jobs that wait, by lane and cost. It is not safe for concurrent use.
type Lanes[T any] struct {
	lanes []*lane[T] // in the order given to New, which breaks ties
	len   int
}

// lane is one lane: a flow, and the flows of its cost classes.
type lane[T any] struct {
	name    string
	weight  float64
	tag     float64
	classes []*class[T] // by digits, ascending, as they came up
	len     int
}

// class is the jobs of a lane whose costs have the same number of binary digits.
type class[T any] struct {
	digits int
	tag    float64
	jobs   fifo[T]
}

// New makes empty lanes. The error wraps ErrShares.
func New[T any](shares ...Share) (*Lanes[T], error) {
	l := &Lanes[T]{}
	for _, s := range shares {
		if !(s.Weight > 0 && s.Weight <= 1e6) {
			return nil, fmt.Errorf("%w: lane %q has %v, want over 0 and at most a million", ErrShares, s.Lane, s.Weight)
		}
		if l.lane(s.Lane) != nil {
			return nil, fmt.Errorf("%w: lane %q comes twice", ErrShares, s.Lane)
		}
		l.lanes = append(l.lanes, &lane[T]{name: s.Lane, weight: s.Weight})
	}
	if len(l.lanes) == 0 {
		return nil, fmt.Errorf("%w: there is no lane", ErrShares)
	}
	return l, nil
}

func (l *Lanes[T]) lane(name string) *lane[T] {
	for _, one := range l.lanes {
		if one.name == name {
			return one
		}
	}
	return nil
}

// Len is how many jobs wait.
func (l *Lanes[T]) Len() int { return l.len }

// Push adds a job at the end of its flow. A lane that New was not told of is the last one;
// a cost below 1 is 1.
func (l *Lanes[T]) Push(lane string, cost int64, item T) { l.add(lane, cost, item, false) }

// PushFront gives a job back: it is the next of its flow.
func (l *Lanes[T]) PushFront(lane string, cost int64, item T) { l.add(lane, cost, item, true) }

func (l *Lanes[T]) add(name string, cost int64, item T, front bool) {
	in := l.lane(name)
	if in == nil {
		in = l.lanes[len(l.lanes)-1]
	}
	cost = max(cost, 1)
	to := in.class(bits.Len64(uint64(cost)))
	if front {
		to.jobs.pushFront(job[T]{cost, item})
	} else {
		to.jobs.push(job[T]{cost, item})
	}
	in.len++
	l.len++
}

// class finds or makes the class of a number of digits.
func (l *lane[T]) class(digits int) *class[T] {
	at := 0
	for at < len(l.classes) && l.classes[at].digits < digits {
		at++
	}
	if at < len(l.classes) && l.classes[at].digits == digits {
		return l.classes[at]
	}
	l.classes = append(l.classes, nil)
	copy(l.classes[at+1:], l.classes[at:])
	l.classes[at] = &class[T]{digits: digits}
	return l.classes[at]
}

// Peek gives the job that leaves next, and its cost. It stays. ok is false when none waits.
func (l *Lanes[T]) Peek() (item T, cost int64, ok bool) {
	in := l.next()
	if in == nil {
		return item, 0, false
	}
	head := in.next().jobs.head()
	return head.item, head.cost, true
}

// Pop takes out the job that Peek gives and charges its flow.
func (l *Lanes[T]) Pop() (item T, cost int64, ok bool) { return l.take(true) }

// Drop takes out the job that Peek gives, free of charge: it will not be sent.
func (l *Lanes[T]) Drop() (item T, ok bool) {
	item, _, ok = l.take(false)
	return item, ok
}

func (l *Lanes[T]) take(charge bool) (item T, cost int64, ok bool) {
	in := l.next()
	if in == nil {
		return item, 0, false
	}
	from := in.next()
	head := from.jobs.pop()
	in.len--
	l.len--
	if charge {
		l.charge(in, from, float64(head.cost))
	}
	if l.len == 0 { // nobody waits: nobody is owed anything
		l.forget()
	}
	return head.item, head.cost, true
}

// charge moves both levels on. Tags are kept relative to the tag that is served, so they
// stay small, and a flow that has fallen behind while it was empty stands at zero.
func (l *Lanes[T]) charge(in *lane[T], from *class[T], cost float64) {
	served := in.tag
	in.tag += cost / in.weight
	for _, one := range l.lanes {
		one.tag = max(one.tag-served, 0)
	}
	served = from.tag
	from.tag += cost
	for _, one := range in.classes {
		one.tag = max(one.tag-served, 0)
	}
}

func (l *Lanes[T]) forget() {
	for _, in := range l.lanes {
		in.tag = 0
		for _, one := range in.classes {
			one.tag = 0
		}
	}
}

// next is the lane that is served next, nil when no job waits.
func (l *Lanes[T]) next() (best *lane[T]) {
	for _, one := range l.lanes {
		if one.len > 0 && (best == nil || one.tag < best.tag) {
			best = one
		}
	}
	return best
}

// next is the class that is served next, nil when no job waits.
func (l *lane[T]) next() (best *class[T]) {
	for _, one := range l.classes {
		if one.jobs.len() > 0 && (best == nil || one.tag < best.tag) {
			best = one
		}
	}
	return best
}

// Filter keeps the jobs for which keep says true, in their order.
func (l *Lanes[T]) Filter(keep func(T) bool) {
	l.len = 0
	for _, in := range l.lanes {
		in.len = 0
		for _, one := range in.classes {
			one.jobs.filter(keep)
			in.len += one.jobs.len()
		}
		l.len += in.len
	}
	if l.len == 0 {
		l.forget()
	}
}
