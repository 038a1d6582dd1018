package gate

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anteroom/anteroom/internal/match"
	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
)

// Line is what the gate asks of the line. Each call has a deadline in ctx; errors wrap
// queue.ErrStore. Touch may be repeated; Redeem is true once for a token.
type Line interface {
	Touch(ctx context.Context, room queue.Room, passes []queue.Inside) ([]queue.Standing, error)
	Redeem(ctx context.Context, room queue.Room, token string, generation int64, keep time.Duration) (bool, error)
}

// Rooms has the rooms in force and the rules by which addresses belong to them.
type Rooms interface {
	Get(name string) (rooms.Room, bool)
	All() []rooms.Room
	// Find is the room that protects an address, both of one reading of the rooms file.
	Find(host, target string) (rooms.Room, match.Found, bool, error)
}

// Statuses has a recent status of a room: a reset is seen by it within a second.
type Statuses interface {
	Last(room string) (queue.Status, bool)
}

// Config is what a Gate is made of. Fields with a default are optional, the others are not.
type Config struct {
	Line     Line
	Rooms    Rooms
	Statuses Statuses
	Passes   *pass.Signer
	Log      *slog.Logger
	Metrics  prometheus.Registerer
	Now      func() time.Time // default time.Now
	// AskTimeout bounds the question about a pass that is not known here; default 20 ms, so
	// that the gate answers within 50 ms.
	AskTimeout time.Duration
}

// Gate answers requests. It is safe for concurrent use; Run does its background work.
type Gate struct {
	line     Line
	touches  *queue.Touches
	rooms    Rooms
	statuses Statuses
	passes   *pass.Signer
	log      *slog.Logger
	now      func() time.Time
	metrics  metrics
	sessions *sessions
	breaker  breaker
	caps     caps
}

// New makes a gate.
func New(c Config) *Gate {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.AskTimeout == 0 {
		c.AskTimeout = askTimeout
	}
	g := &Gate{
		line: c.Line, touches: queue.NewTouches(c.Line, c.AskTimeout), rooms: c.Rooms, statuses: c.Statuses,
		passes: c.Passes, log: c.Log, now: c.Now, metrics: newMetrics(c.Metrics), sessions: newSessions(maxSessions),
	}
	g.breaker.last.Store(g.now().UnixMilli())
	return g
}

// Ask decides about one request. It answers within 50 ms whatever the store does, and
// never fails: where it cannot know, the room's on_store_error decides.
func (g *Gate) Ask(ctx context.Context, r Request) Answer {
	a := Answer{Request: r}
	g.decide(ctx, &a)
	g.metrics.count(&a)
	return a
}

// decide fills in the answer. It is passed on by its address, because it is large and the
// stacks of many connections grow by each copy.
func (g *Gate) decide(ctx context.Context, a *Answer) {
	clean, token, shown := cutHandover(a.Request.URI)
	a.Request.URI = clean // the site behind sees no token, whatever becomes of it
	room, found, ok, err := g.rooms.Find(a.Request.Host, clean)
	if err != nil {
		a.Outcome, a.Reason = Bad, BadPath
		return
	}
	a.Outcome, a.Reason, a.Room = Through, NoRoom, room
	if !ok {
		return
	}
	reason, free := free(a, found)
	switch {
	case shown:
		g.swap(ctx, a, token)
	case !free:
		g.admit(ctx, a)
	}
	if free && a.Outcome != Swap { // a token is swapped on a page that needs none, too
		a.Outcome, a.Reason = Through, reason
	}
}

// free tells which requests need no pass in any room, and why.
func free(a *Answer, found match.Found) (Reason, bool) {
	if !a.Room.Enabled {
		return Off, true
	}
	r := &a.Request
	if r.Method == http.MethodOptions && pass.Preflight(r.HTTP()) {
		return Preflight, true
	}
	fetch := match.Fetch{Mode: header(r.Header, "Sec-Fetch-Mode"), Dest: header(r.Header, "Sec-Fetch-Dest")}
	if _, ok := a.Room.Exempt.Covers(r.Method, found, fetch); ok {
		return Exempt, true
	}
	return "", false
}

// admit looks at the passes that a request shows.
func (g *Gate) admit(ctx context.Context, a *Answer) {
	now := g.now()
	if one := g.cached(a, now); one != nil {
		g.enter(a, HasPass, one, now)
		return
	}
	shown := pass.Shown(a.Request.HTTP(), pass.CookieName(a.Room.Name))
	a.Outcome, a.Reason = Queue, NoPass
	for _, token := range shown {
		a.shown = token
		if reason, one := g.judge(ctx, a, token); one != nil {
			g.enter(a, reason, one, now)
			return
		} else if reason == Ended {
			a.Reason = Ended
		}
	}
	if g.breaker.open.Load() {
		g.withoutStore(a)
	}
}

// enter lets a request through by a session.
func (g *Gate) enter(a *Answer, reason Reason, one *session, now time.Time) {
	a.Outcome, a.Reason, a.Claims = Through, reason, one.claims
	a.Token = g.renewal(&a.Room, one, now)
}

// judge decides about one pass; the session is nil where it does not count.
func (g *Gate) judge(ctx context.Context, a *Answer, token string) (Reason, *session) {
	room, now := &a.Room, g.now()
	one := g.sessions.of(token, room.Name)
	if one == nil {
		claims, err := g.verifier(a).Verify(ctx, token, room.Name, 0)
		if err != nil {
			return NoPass, nil
		}
		one = g.sessions.add(token, room.Name, claims)
	}
	if g.old(one) {
		return Ended, nil
	}
	v := one.look(now)
	if (!v.fresh || a.anew) && !g.breaker.open.Load() && !v.ended {
		v = g.ask(ctx, room, one, now)
	}
	switch {
	case v.ended:
		return g.lastGrace(a, one, now)
	case v.fresh:
		g.sessions.note(one)
		return HasPass, one
	case now.Before(one.claims.Expires.Add(pass.Leeway)), now.Before(v.until): // the store is away
		g.sessions.note(one)
		return Offline, one
	}
	return NoPass, nil
}

// old tells whether the room was reset after the session began.
func (g *Gate) old(one *session) bool {
	status, ok := g.statuses.Last(one.room)
	return ok && one.claims.Generation < status.Generation
}

// Check says whether a pass of a room counts now, for an origin that asks. It asks the line
// each time, with others in one call: the origin remembers the answer for a while itself.
func (g *Gate) Check(ctx context.Context, room rooms.Room, token string) (pass.Claims, Reason) {
	reason, one := g.judge(ctx, &Answer{Room: room, Request: Request{Method: http.MethodGet}, anew: true}, token)
	if one == nil {
		return pass.Claims{}, reason
	}
	return one.claims, reason
}

// End forgets the pass that let a request through: its session was released.
func (g *Gate) End(a Answer) {
	if one := g.sessions.of(a.shown, a.Room.Name); one != nil {
		one.mu.Lock()
		one.ended, one.early = true, true
		one.mu.Unlock()
	}
}

// ask asks the line about a pass; many at once go in one call.
func (g *Gate) ask(ctx context.Context, room *rooms.Room, one *session, now time.Time) view {
	at, err := g.touches.Touch(ctx, room.Queue(), one.inside(room))
	if err != nil {
		if ctx.Err() == nil {
			g.failed(err)
		}
		return one.look(now)
	}
	g.breaker.last.Store(now.UnixMilli())
	one.heard(at, now)
	return one.look(now)
}

// grace is for how long after the end of a session a form may still be sent.
const grace = 30 * time.Second

// verifier accepts a pass after its end for as long as its slot may have been extended.
func (g *Gate) verifier(a *Answer) pass.Verifier {
	v := pass.Verifier{Keys: g.passes.Keys(), Now: g.now, Grace: grace}
	if a.Room.Renew == rooms.RenewSliding {
		v.Grace = max(grace, a.Room.MaxSession)
	}
	return v
}

// lastGrace lets a form or a call that changes something through for a little while after
// its session ran out by itself, so that nobody is interrupted in mid-form. A session that
// was ended on purpose gets none.
func (g *Gate) lastGrace(a *Answer, one *session, now time.Time) (Reason, *session) {
	if !safe(a.Request.Method) && !one.cut() && now.Before(one.claims.Expires.Add(grace)) {
		return HasPass, one
	}
	return Ended, nil
}

// withoutStore applies the room's on_store_error to a visitor without a pass.
func (g *Gate) withoutStore(a *Answer) {
	now := g.now()
	a.Reason = StoreAway
	if a.Room.OnStore != rooms.Admit || a.Room.StateAt(now) != rooms.IsOpen || !g.caps.allow(a.Room, now) {
		return
	}
	generation := int64(1)
	if status, ok := g.statuses.Last(a.Room.Name); ok {
		generation = status.Generation
	}
	token, claims, err := g.passes.Sign(a.Room.Name, queue.NewSecret(), generation, now, now.Add(a.Room.Session))
	if err != nil {
		g.log.Error("a pass could not be signed", "room", a.Room.Name, "error", err)
		return
	}
	a.Outcome, a.Claims, a.Token = Through, claims, token
}
