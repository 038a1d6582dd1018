package gate

import (
	"context"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
)

const (
	// fresh is how long the line's word about a pass counts: a release is seen within it.
	fresh = time.Second
	// touchEvery is how often passes that were shown are touched in the background: twice
	// in the time for which the line's word counts, so that a busy visitor never waits.
	touchEvery = 450 * time.Millisecond
	// maxSessions bounds the memory: about 1 KB each. The least recently shown go first.
	maxSessions = 100_000
)

// session is a pass that was shown here. Its token was verified once.
type session struct {
	token  string
	room   string
	claims pass.Claims

	mu      sync.Mutex
	checked time.Time // when the line last spoke of it; zero = never
	until   time.Time // when its slot ends, as the line said
	ended   bool      // the line said that it is over
	early   bool      // it was ended before its time: released, left, reset
	shown   bool      // since the last touch in the background
	renewed string    // a pass that ends later, made for this one
	extends time.Time // when the renewed pass ends
}

// sessions are the passes that were shown here, by token.
type sessions struct {
	known *lru.Cache[string, *session]
	mu    sync.Mutex
	shown []*session // to be touched in the background
}

func newSessions(most int) *sessions {
	known, err := lru.New[string, *session](most)
	if err != nil {
		panic(err) // most is a positive constant
	}
	return &sessions{known: known}
}

// of returns the session of a token, nil when it was not shown here yet.
func (s *sessions) of(token, room string) *session {
	found, ok := s.known.Get(token)
	if !ok || found.room != room {
		return nil
	}
	return found
}

// add remembers a verified pass; of two at once the first stays.
func (s *sessions) add(token, room string, claims pass.Claims) *session {
	one := &session{token: token, room: room, claims: claims}
	if before, found, _ := s.known.PeekOrAdd(token, one); found && before.room == room {
		return before
	}
	return one
}

// note puts a session on the list of the next background touch, once.
func (s *sessions) note(one *session) {
	one.mu.Lock()
	first := !one.shown
	one.shown = true
	one.mu.Unlock()
	if first {
		s.list(one)
	}
}

func (s *sessions) list(one *session) {
	s.mu.Lock()
	s.shown = append(s.shown, one)
	s.mu.Unlock()
}

// use is look and note in one for a session of which the line's word counts and is good;
// false, and nothing noted, for any other.
func (s *sessions) use(one *session, now time.Time) bool {
	one.mu.Lock()
	good := one.fresh(now) && !one.ended
	first := good && !one.shown
	one.shown = one.shown || good
	one.mu.Unlock()
	if first {
		s.list(one)
	}
	return good
}

// takeShown empties the list.
func (s *sessions) takeShown() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown := s.shown
	s.shown = nil
	for _, one := range shown {
		one.mu.Lock()
		one.shown = false
		one.mu.Unlock()
	}
	return shown
}

// inside is the touch of a session: in a sliding room it lasts a session from now, but no
// longer than max_session in all.
func (one *session) inside(room *rooms.Room) queue.Inside {
	in := queue.Inside{ID: queue.ID(one.claims.Visitor), Generation: one.claims.Generation, Ends: one.claims.Expires}
	if in.Since = one.claims.Since; in.Since.IsZero() {
		in.Since = one.claims.IssuedAt
	}
	if room.Renew == rooms.RenewSliding {
		in.Extend, in.Most = room.Session, room.MaxSession
	}
	return in
}

// heard notes what the line said.
func (one *session) heard(at queue.Standing, now time.Time) {
	one.mu.Lock()
	defer one.mu.Unlock()
	one.ended = at.State != queue.Active
	one.early = one.early || one.ended && (now.Before(one.claims.Expires) || now.Before(one.until))
	one.checked, one.until = now, now.Add(at.Left)
}

// cut tells whether the session was ended on purpose, before its time.
func (one *session) cut() bool {
	one.mu.Lock()
	defer one.mu.Unlock()
	return one.early
}

// view is what is known of a session at one moment.
type view struct {
	fresh, ended bool
	until        time.Time
}

func (one *session) look(now time.Time) view {
	one.mu.Lock()
	defer one.mu.Unlock()
	return view{fresh: one.fresh(now), ended: one.ended, until: one.until}
}

// fresh tells whether the line's word still counts. The caller holds the lock.
func (one *session) fresh(now time.Time) bool {
	return !one.checked.IsZero() && now.Sub(one.checked) <= fresh && now.Before(one.until)
}

// touchShown touches what was shown since the last time, many in a call. It returns
// whether the line answered all of them.
func (g *Gate) touchShown(ctx context.Context) bool {
	byRoom := map[string][]*session{}
	for _, one := range g.sessions.takeShown() {
		byRoom[one.room] = append(byRoom[one.room], one)
	}
	for name, all := range byRoom {
		room, ok := g.rooms.Get(name)
		if !ok {
			continue
		}
		for len(all) > 0 {
			n := min(len(all), queue.MaxPolls)
			if !g.touchBatch(ctx, room, all[:n]) {
				return false
			}
			all = all[n:]
		}
	}
	return true
}

func (g *Gate) touchBatch(ctx context.Context, room rooms.Room, batch []*session) bool {
	now := g.now()
	passes := make([]queue.Inside, len(batch))
	for i, one := range batch {
		passes[i] = one.inside(&room)
	}
	call, cancel := context.WithTimeout(ctx, backgroundTimeout)
	defer cancel()
	at, err := g.line.Touch(call, room.Queue(), passes)
	if err != nil {
		if ctx.Err() == nil { // the gate is not merely ending
			g.failed(err)
		}
		return false
	}
	for i, one := range batch {
		one.heard(at[i], now)
	}
	return true
}
