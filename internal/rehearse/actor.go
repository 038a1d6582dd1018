package rehearse

import (
	"crypto/rand"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"time"
)

// phase is the request that a visitor sends next.
type phase uint8

const (
	joining   phase = iota
	polling         // asks how far the line is
	claiming        // takes up its turn
	again           // probe: claims once more while inside
	releasing       // leaves from inside
	byOrigin        // the origin says that it left
	leaving         // leaves from the line
	looking         // probe: asks once more after it left
	arriving        // loads the shop's page, to be sent to the line
	entering        // goes where the claim sends it
	visiting        // probe: loads the page once more while inside
	returning       // probe: loads the page with the old pass, after it left
	ended
)

// idle is how long the queue page waits when an answer does not say when to ask next.
const idle = 5 * time.Second

// manners are the settings that all visitors share.
type manners struct {
	session  time.Duration
	sleepFor time.Duration
	origin   bool // leave through the origin's API
	rnd      *mathrand.Rand
}

// actor is one visitor on the stage: what it sends next and when. Only the crowd's
// goroutine touches it.
type actor struct {
	plan  Plan
	log   *Visitor
	phase phase
	due   time.Duration

	key, ticket, pass string
	failures          int           // of the present request, in a row
	first             time.Duration // when the present request was first sent; -1 = not yet
	lastURL           int           // where the last request went
	shun              bool          // that server could not be reached
	slept             bool
	leaveInside       time.Duration // when to leave from inside

	// Of a visitor that walks through the gate:
	jar     *cookiejar.Jar // nil = there is no gate, the visitor asks the API alone
	address string         // the page to load
	desk    desk           // whom its queue page asks
	entered time.Duration  // when it got to the shop
	entries int            // how often it was sent back instead
	probed  int            // probes begun inside
}

func newActor(p Plan, log *Visitor) *actor {
	a := &actor{plan: p, log: log, due: p.Arrive, first: -1, key: rand.Text()}
	if p.Address != "" {
		a.phase, a.address, a.jar = arriving, p.Address, newJar()
	}
	return a
}

// take learns from an answer and sets what comes next.
func (a *actor) take(r *answer, m *manners) {
	if a.first < 0 {
		a.first = r.sent
	}
	a.noteAttempt()
	a.shun = r.fault != "" && r.status == 0
	if r.fault != "" {
		a.retry(r, m)
		return
	}
	first, repeated := a.first, a.failures > 0
	a.first, a.failures = -1, 0
	switch a.phase {
	case joining:
		a.tookJoin(r, first, m)
	case polling:
		a.tookStanding(r, m)
	case claiming, again:
		a.tookClaim(r, m)
	case leaving, releasing, byOrigin:
		a.tookRelease(r, first, repeated)
	case arriving, entering, visiting, returning:
		a.tookPage(r, repeated, m)
	case looking:
		a.log.After, a.phase = Gone, ended
		if !r.refused() {
			a.log.After = stateOf(r.body.State)
		}
	}
}

// noteAttempt remembers the first attempt of what may have an effect without an answer.
func (a *actor) noteAttempt() {
	switch {
	case a.phase == claiming && a.log.Claiming == 0:
		a.log.Claiming = a.first
	case (a.phase == releasing || a.phase == byOrigin || a.phase == leaving) && a.log.Release.Sent == 0:
		a.log.Release.Sent = a.first
	}
}

// retry sends the same request again: at once to another server when the first could not
// be reached, later and later otherwise. A visitor that waits may leave or sleep instead.
func (a *actor) retry(r *answer, m *manners) {
	a.failures++
	wait := pause(a.failures, r.retryAfter, m.rnd)
	if a.shun && a.failures == 1 {
		wait = upTo(m.rnd, 200*time.Millisecond)
	}
	if a.phase == byOrigin && r.refused() { // a wrong API key: leave by its own ticket
		a.phase = releasing
	}
	if r.at != "" { // a browser loads the address again that failed, not the first
		a.address = r.at
	}
	if a.phase == polling {
		a.pollAt(r.done+wait, r.done, m)
		return
	}
	if !a.giveUp(r, r.done+wait, m) {
		a.due = r.done + wait
	}
}

func (a *actor) note(r *answer) State {
	s := stateOf(r.body.State)
	a.log.Stood = append(a.log.Stood, Stand{
		Sent: r.sent, Answered: r.done, State: s, Position: r.body.Position,
		PollAfter: time.Duration(r.body.PollAfterMS) * time.Millisecond,
	})
	return s
}

func (a *actor) tookJoin(r *answer, first time.Duration, m *manners) {
	if r.status == http.StatusConflict { // the place of this key is used up
		a.key, a.due = rand.Text(), r.done+pause(1, 0, m.rnd)
		return
	}
	if r.body.Ticket == "" || stateOf(r.body.State) == Shut {
		a.due = r.done + pollAfter(r)
		return
	}
	a.ticket = r.body.Ticket
	a.log.Joined = Span{first, r.done}
	a.tookStanding(r, m)
}

func (a *actor) tookStanding(r *answer, m *manners) {
	if r.refused() {
		a.refuse(r)
		return
	}
	switch a.note(r) {
	case Admitted, Active:
		if a.plan.Role == Absent {
			a.log.End, a.phase = NoShow, ended
			return
		}
		a.phase, a.due = claiming, r.done
	case Gone:
		a.refuse(r)
	default:
		a.pollAt(r.done+pollAfter(r), r.done, m)
	}
}

func pollAfter(r *answer) time.Duration {
	if r.body.PollAfterMS <= 0 {
		return idle
	}
	return time.Duration(r.body.PollAfterMS) * time.Millisecond
}

// pollAt plans the next poll, unless the visitor leaves or falls asleep before it.
func (a *actor) pollAt(due, now time.Duration, m *manners) {
	a.phase, a.due = polling, due
	turn := max(now, a.log.Joined.Answered+a.plan.Turn)
	switch {
	case turn > due:
	case a.plan.Role == Leaver:
		a.phase, a.due, a.first, a.failures = leaving, turn, -1, 0
	case a.plan.Role == Sleeper && !a.slept:
		a.slept, a.log.Slept, a.log.AwayFrom = true, true, now
		a.due = turn + m.sleepFor
	}
}

func (a *actor) tookClaim(r *answer, m *manners) {
	switch {
	case a.phase == again && r.status != http.StatusOK:
		if !a.sessionOver(r) { // it was inside, and is not any more
			a.refuse(r)
			return
		}
		a.release(r.done, m)
		return
	case r.refused():
		a.refuse(r)
		return
	case r.status == http.StatusConflict: // not its turn after all
		a.pollAt(r.done+time.Second+upTo(m.rnd, time.Second), r.done, m)
		return
	}
	sub, _ := subject(r.body.Pass)
	expires := time.Duration(r.body.ExpiresInS) * time.Second
	a.log.Claims = append(a.log.Claims, Claim{Sent: r.sent, Answered: r.done, Expires: expires, Sub: sub})
	a.pass = r.body.Pass
	switch {
	case a.jar == nil:
	case a.phase == claiming:
		a.enter(r, m)
		return
	default:
		a.stayOn(r.done, m)
		return
	}
	if a.phase == claiming {
		stay := min(m.session, expires)
		a.leaveInside = r.done + stay
		if a.plan.Probe {
			a.phase, a.due = again, r.done+stay/2
			return
		}
	}
	a.release(max(r.done, a.leaveInside), m)
}

func (a *actor) release(due time.Duration, m *manners) {
	a.phase, a.due = releasing, due
	if m.origin {
		a.phase = byOrigin
	}
}

// tookRelease ends the story. "Join again" to a repeated request means that the first one
// was done; the session may also have ended by itself meanwhile.
func (a *actor) tookRelease(r *answer, first time.Duration, repeated bool) {
	if r.refused() && !repeated && !a.sessionOver(r) {
		a.refuse(r)
		return
	}
	a.log.Release = Span{first, r.done}
	if r.refused() {
		a.log.Release.Answered = r.sent // it was done before
	}
	a.log.End = Served
	if a.phase == leaving {
		a.log.End = LeftLine
	}
	a.phase = ended
	if a.plan.Probe {
		a.phase, a.due = looking, r.done
		if a.jar != nil && a.log.entered() {
			a.phase, a.due, a.address = returning, r.done+grace, a.plan.Address
		}
	}
}

// sessionOver tells whether the session may have ended before the answer came.
func (a *actor) sessionOver(r *answer) bool {
	n := len(a.log.Claims)
	return n > 0 && r.done > a.log.Claims[n-1].Sent+a.log.Claims[n-1].Expires-doubt
}

func (a *actor) refuse(r *answer) {
	a.log.RefusedTo = map[phase]string{
		joining: "join", polling: "poll", claiming: "claim", again: "claim again", releasing: "leave", byOrigin: "leave", leaving: "leave the line",
	}[a.phase]
	a.log.Refusal, a.log.End, a.phase = Span{r.sent, r.done}, Refused, ended
}
