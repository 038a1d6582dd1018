package rehearse

import (
	"net/url"
	"time"
)

const (
	// grace is how long after a release its pass may still open the shop.
	grace = 1500 * time.Millisecond
	// maxEntries is how often a visitor tries to get in with passes that are not accepted.
	maxEntries = 3
	// probes are what a probing visitor does inside: it loads the page, claims again, and
	// loads the page again, evenly over its time.
	probes = 3
)

// loads tells whether the request is a page load.
func (p phase) loads() bool {
	return p == arriving || p == entering || p == visiting || p == returning
}

// tookPage notes where a page load ended and sets what comes next.
func (a *actor) tookPage(r *answer, repeated bool, m *manners) {
	a.log.Visits = append(a.log.Visits, Visit{
		Sent: r.sent, Answered: r.done, Why: why[a.phase], Repeated: repeated,
		AtShop: r.landed.shop, Asked: uriOf(a.plan.Address), Got: r.landed.uri,
	})
	switch a.phase {
	case arriving:
		if r.landed.shop {
			a.log.End, a.phase = Straight, ended
			return
		}
		a.desk, a.phase, a.due = r.landed.desk, joining, r.done
	case entering:
		a.tookEntry(r, repeated, m)
	case visiting:
		a.stayOn(r.done, m)
	case returning:
		a.phase, a.due = looking, r.done
	}
}

var why = map[phase]Reason{arriving: Arrival, entering: Entry, visiting: Stay, returning: Return}

// uriOf is path and query of an address as they are sent.
func uriOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.RequestURI()
}

// enter goes where the claim sends the visitor, as the page's script does.
func (a *actor) enter(r *answer, m *manners) {
	n := len(a.log.Claims)
	a.leaveInside = a.log.Claims[n-1].Sent + a.log.Claims[n-1].Expires - doubt
	page, err := url.Parse(a.desk.address)
	if err == nil {
		page, err = page.Parse(r.body.Redirect)
	}
	if err != nil || page.Scheme != "http" && page.Scheme != "https" {
		a.release(r.done, m)
		return
	}
	a.phase, a.due, a.address = entering, r.done, page.String()
}

// tookEntry begins the visit. A visitor that is sent back to the line takes up its turn
// again, as the page does. That is no fault when its request was repeated: the token in
// the address works once.
func (a *actor) tookEntry(r *answer, repeated bool, m *manners) {
	if r.landed.shop {
		a.entered = r.done
		a.leaveInside = max(r.done, min(r.done+m.session, a.leaveInside))
		a.stayOn(r.done, m)
		return
	}
	if !repeated {
		a.entries++
	}
	if a.entries == maxEntries {
		a.release(r.done, m)
		return
	}
	a.phase, a.due = claiming, r.done+time.Second+upTo(m.rnd, time.Second)
}

// stayOn plans the next probe inside, or the end of the visit.
func (a *actor) stayOn(now time.Duration, m *manners) {
	a.probed++
	if !a.plan.Probe || a.probed > probes {
		a.release(max(now, a.leaveInside), m)
		return
	}
	a.phase, a.address = visiting, a.plan.Address
	if a.probed == 2 {
		a.phase = again
	}
	a.due = max(now, a.entered+(a.leaveInside-a.entered)*time.Duration(a.probed)/(probes+1))
}

// giveUp ends a page load that would fail until the visit is over.
func (a *actor) giveUp(r *answer, next time.Duration, m *manners) bool {
	if a.phase != entering && a.phase != visiting || next < a.leaveInside {
		return false
	}
	a.first, a.failures = -1, 0
	a.release(max(r.done, a.leaveInside), m)
	return true
}
