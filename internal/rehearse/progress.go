package rehearse

import (
	"fmt"
	"io"
	"time"
)

// tally counts visitors by what they do now, for the progress line.
type tally struct {
	joined, waiting, inside, highest, over int
}

// where a visitor stands, as far as the last answer said.
func (t *tally) slot(a *actor) *int {
	switch a.phase {
	case polling, claiming, leaving:
		return &t.waiting
	case again, releasing, byOrigin, entering, visiting:
		return &t.inside
	case ended, looking, returning:
		return &t.over
	}
	return nil
}

func (t *tally) leave(a *actor) {
	if p := t.slot(a); p != nil {
		*p--
		t.joined--
	}
}

func (t *tally) enter(a *actor) {
	if p := t.slot(a); p != nil {
		*p++
		t.joined++
		t.highest = max(t.highest, t.inside)
	}
}

// progress writes a line now and then: one that overwrites itself on a terminal.
type progress struct {
	w        io.Writer
	terminal bool
	next     time.Duration // when the next line is due
}

func newProgress(w io.Writer, terminal bool) *progress {
	return &progress{w: w, terminal: terminal, next: every(terminal)}
}

func every(terminal bool) time.Duration {
	if terminal {
		return time.Second
	}
	return 5 * time.Second
}

func (p *progress) show(now time.Duration, cr *crowd) {
	if now < p.next {
		return
	}
	p.next = now.Truncate(time.Second) + every(p.terminal)
	before, after := "", "\n"
	if p.terminal {
		before, after = "\r\x1b[K", ""
	}
	faults := 0
	for _, n := range cr.traffic.Faults {
		faults += n
	}
	t, lag := &cr.tally, time.Duration(0)
	for _, l := range cr.traffic.Lag[max(0, len(cr.traffic.Lag)-1000):] {
		lag = max(lag, l)
	}
	_, _ = fmt.Fprintf(p.w, "%s%4.0f s  joined %d of %d  in line %d  inside %d (highest %d)  through %d  requests %d  faults %d  lag %d ms%s",
		before, now.Seconds(), t.joined, len(cr.history), t.waiting, t.inside, t.highest, t.over, cr.traffic.Requests, faults, lag.Milliseconds(), after)
}

// end leaves the terminal's line.
func (p *progress) end() {
	if p.terminal {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K")
	}
}
