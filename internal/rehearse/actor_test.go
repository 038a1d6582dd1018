package rehearse

import (
	"net/http"
	"testing"
	"time"
)

func said(state string, status int) answer {
	return answer{sent: 10 * sec, done: 11 * sec, status: status, body: body{State: state, PollAfterMS: 4000, Ticket: "t", ExpiresInS: 60, Pass: "p"}}
}

func failed(fault string, status int) answer {
	return answer{sent: 10 * sec, done: 11 * sec, status: status, fault: fault}
}

func TestWhatComesNext(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		phase      phase
		plan       Plan
		joined     time.Duration
		answer     answer
		next       phase
		from, upTo time.Duration // when
		end        End
	}{
		"joined":                         {phase: joining, answer: said("waiting", 201), next: polling, from: 15 * sec, upTo: 15 * sec},
		"joined, straight in":            {phase: joining, answer: said("admitted", 201), next: claiming, from: 11 * sec, upTo: 11 * sec},
		"a closed room":                  {phase: joining, answer: said("closed", 200), next: joining, from: 15 * sec, upTo: 15 * sec},
		"a key that is used up":          {phase: joining, answer: said("", 409), next: joining, from: 11 * sec, upTo: 13 * sec},
		"a join that failed":             {phase: joining, answer: failed("timeout", 0), next: joining, from: 11 * sec, upTo: 11200 * time.Millisecond},
		"a poll that failed":             {phase: polling, answer: failed("http 503", 503), next: polling, from: 11 * sec, upTo: 13 * sec},
		"still waiting":                  {phase: polling, answer: said("waiting", 200), next: polling, from: 15 * sec, upTo: 15 * sec},
		"a leaver leaves between polls":  {phase: polling, plan: Plan{Role: Leaver, Turn: 8 * sec}, joined: 5 * sec, answer: said("waiting", 200), next: leaving, from: 13 * sec, upTo: 13 * sec},
		"a leaver waits for its time":    {phase: polling, plan: Plan{Role: Leaver, Turn: 20 * sec}, joined: 5 * sec, answer: said("waiting", 200), next: polling, from: 15 * sec, upTo: 15 * sec},
		"a leaver leaves as polls fail":  {phase: polling, plan: Plan{Role: Leaver}, joined: 5 * sec, answer: failed("timeout", 0), next: leaving, from: 11 * sec, upTo: 11 * sec},
		"a sleeper comes back":           {phase: polling, plan: Plan{Role: Sleeper, Turn: 8 * sec}, joined: 5 * sec, answer: said("waiting", 200), next: polling, from: 58 * sec, upTo: 58 * sec},
		"a no-show stops":                {phase: polling, plan: Plan{Role: Absent}, answer: said("admitted", 200), next: ended, end: NoShow},
		"join again":                     {phase: polling, answer: said("", 401), next: ended, end: Refused},
		"expired":                        {phase: polling, answer: said("expired", 200), next: ended, end: Refused},
		"claimed":                        {phase: claiming, answer: said("", 200), next: releasing, from: 13 * sec, upTo: 13 * sec},
		"claimed, to claim again":        {phase: claiming, plan: Plan{Probe: true}, answer: said("", 200), next: again, from: 12 * sec, upTo: 12 * sec},
		"not its turn after all":         {phase: claiming, answer: said("waiting", 409), next: polling, from: 12 * sec, upTo: 13 * sec},
		"left from inside":               {phase: releasing, answer: said("left", 200), next: ended, end: Served},
		"left the line":                  {phase: leaving, answer: said("left", 200), next: ended, end: LeftLine},
		"left the line, to look again":   {phase: leaving, plan: Plan{Probe: true}, answer: said("left", 200), next: looking, from: 11 * sec, upTo: 11 * sec, end: LeftLine},
		"looked, and is gone":            {phase: looking, answer: said("", 401), next: ended},
		"the key of the origin is wrong": {phase: byOrigin, answer: failed("http 401", http.StatusUnauthorized), next: releasing, from: 11 * sec, upTo: 13 * sec},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log Visitor
			a := newActor(c.plan, &log)
			a.phase, log.Joined.Answered = c.phase, c.joined
			a.take(&c.answer, &manners{session: 2 * sec, sleepFor: 45 * sec, rnd: newRand(1)})
			if a.phase != c.next || log.End != c.end {
				t.Errorf("phase %d and end %d, want %d and %d", a.phase, log.End, c.next, c.end)
			}
			if c.next != ended && (a.due < c.from || a.due > c.upTo) {
				t.Errorf("due at %s, want %s to %s", a.due, c.from, c.upTo)
			}
		})
	}
}

// What a browser at the gate does next.
func TestWhatComesNextAtTheGate(t *testing.T) {
	t.Parallel()
	page := func(shop bool) answer {
		return answer{sent: 10 * sec, done: 11 * sec, status: 200, landed: landing{shop: shop, uri: "/a?b", desk: desk{address: "http://q/r/sale?target=x"}}}
	}
	turn := said("", 200)
	turn.body.Redirect = "/back?x"
	lost := failed("timeout", 0)
	lost.at = "http://s/second"
	for name, c := range map[string]struct {
		phase  phase
		change func(*actor)
		answer answer
		next   phase
		due    time.Duration // at least
		goes   string        // to this address
		end    End
	}{
		"sent to the line":             {phase: arriving, answer: page(false), next: joining, due: 11 * sec},
		"straight in":                  {phase: arriving, answer: page(true), next: ended, end: Straight},
		"a redirect that failed":       {phase: arriving, answer: lost, next: arriving, due: 11 * sec, goes: "http://s/second"},
		"claimed":                      {phase: claiming, answer: turn, next: entering, due: 11 * sec, goes: "http://q/back?x"},
		"got in":                       {phase: entering, answer: page(true), next: releasing, due: 13 * sec},
		"got in, to look round":        {phase: entering, change: func(a *actor) { a.plan.Probe = true }, answer: page(true), next: visiting, due: 11500 * time.Millisecond, goes: "http://s/a?b"},
		"looked round, to claim again": {phase: visiting, change: func(a *actor) { a.plan.Probe, a.probed = true, 1 }, answer: page(true), next: again, due: 11 * sec},
		"sent back to the line":        {phase: entering, answer: page(false), next: claiming, due: 12 * sec},
		"sent back too often":          {phase: entering, change: func(a *actor) { a.entries = 2 }, answer: page(false), next: releasing, due: 11 * sec},
		"sent back with a used token":  {phase: entering, change: func(a *actor) { a.entries, a.failures = 2, 1 }, answer: page(false), next: claiming, due: 12 * sec},
		"the shop fails for too long":  {phase: entering, change: func(a *actor) { a.leaveInside = 10 * sec }, answer: lost, next: releasing, due: 11 * sec},
		"looked at the end":            {phase: returning, answer: page(false), next: looking, due: 11 * sec},
	} {
		var log Visitor
		a := newActor(Plan{Address: "http://s/a?b"}, &log)
		a.phase, a.desk, a.leaveInside = c.phase, page(false).landed.desk, 60*sec
		if c.change != nil {
			c.change(a)
		}
		a.take(&c.answer, &manners{session: 2 * sec, rnd: newRand(1)})
		if a.phase != c.next || log.End != c.end || c.next != ended && a.due < c.due || c.goes != "" && a.address != c.goes {
			t.Errorf("%s: phase %d, end %d, due %s, address %s; want %d, %d, %s, %s", name, a.phase, log.End, a.due, a.address, c.next, c.end, c.due, c.goes)
		}
	}
}

// Who left looks at the shop once more, when the pass must be worthless.
func TestAProbeComesBackAfterTheGrace(t *testing.T) {
	t.Parallel()
	log := Visitor{Visits: []Visit{{Why: Entry, AtShop: true}}}
	a := newActor(Plan{Address: "http://s/a", Probe: true}, &log)
	a.phase = releasing
	r := said("left", 200)
	a.take(&r, &manners{rnd: newRand(1)})
	if a.phase != returning || a.due != 12500*time.Millisecond || log.End != Served {
		t.Errorf("phase %d at %s, end %d", a.phase, a.due, log.End)
	}
}

// A request that is repeated may have been done the first time.
func TestARepeatedLeaveMayHaveBeenDone(t *testing.T) {
	t.Parallel()
	var log Visitor
	a := newActor(Plan{}, &log)
	a.phase, a.ticket = leaving, "t"
	m := &manners{rnd: newRand(1)}
	first, second := failed("connection reset", 0), said("", http.StatusUnauthorized)
	second.sent, second.done = 12*sec, 13*sec
	a.take(&first, m)
	a.take(&second, m)
	if log.End != LeftLine || log.Release != (Span{10 * sec, 12 * sec}) {
		t.Errorf("end %d, release %+v", log.End, log.Release)
	}
}
