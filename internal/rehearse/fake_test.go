package rehearse

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// flaw is what is wrong with a fake.
type flaw string

const (
	sound     flaw = ""
	overfull  flaw = "lets more in than it says"
	unfair    flaw = "lets the last in first, at times"
	forgetful flaw = "tells some to join again"
	stuck     flaw = "never lets some in"
	lavish    flaw = "another slot for a second claim"
	sharing   flaw = "one slot for two tickets"
	revolving flaw = "a turn again after leaving"
	rejoining flaw = "in the line again after leaving"
	kicking   flaw = "puts people out who are inside"
)

// place is one ticket in the fake.
type place struct {
	n        int
	state    string // waiting, admitted, active, left
	seen     time.Time
	until    time.Time // end of the turn or the session
	isInside bool
	target   string // where it wants to go
}

// fake is a small Anteroom in memory: correct, but for its flaw.
type fake struct {
	flaw      flaw
	capacity  int
	heartbeat time.Duration
	window    time.Duration // to claim
	session   time.Duration
	wipeAt    time.Time // when it forgets who is inside, and which turns it gave; zero = never
	hold      time.Time // nobody is let in before

	mu     sync.Mutex
	places []*place // in order of place
	keys   map[string]*place
	turns  int
	passes int
}

func newFake(f flaw) *fake {
	return &fake{
		flaw: f, capacity: 10, heartbeat: 4 * time.Second, window: 30 * time.Second, session: time.Minute,
		keys: map[string]*place{},
	}
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tick(time.Now())
	path, ok := strings.CutPrefix(r.URL.Path, "/v1/rooms/sale")
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	switch r.Method + path {
	case "GET":
		reply(w, http.StatusOK, map[string]any{"capacity": f.capacity})
	case "POST/ticket":
		f.join(w, r)
	case "POST/release":
		f.release(w, r)
	default:
		f.ticket(w, r.Method+path, bearerOf(r))
	}
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func bearerOf(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// wipe forgets who is inside and which turns were given. The line puts itself back in
// order for longer than a poll takes to come.
func (f *fake) wipe(now time.Time) {
	f.wipeAt, f.hold = time.Time{}, now.Add(1200*time.Millisecond)
	for _, p := range f.places {
		p.isInside = false
		if p.state == "admitted" {
			p.state = "waiting"
		}
	}
}

// used is how many are inside and have claimed.
func (f *fake) used() int {
	n := 0
	for _, p := range f.places {
		if p.isInside && p.state == "active" {
			n++
		}
	}
	return n
}

// tick ends sessions and unclaimed turns, and admits.
func (f *fake) tick(now time.Time) {
	inside := 0
	for _, p := range f.places {
		if p.isInside && now.After(p.until) {
			p.isInside, p.state = false, "left"
		}
		if p.isInside {
			inside++
		}
	}
	most := f.capacity
	if f.flaw == overfull {
		most += 3
	}
	for inside < most && now.After(f.hold) {
		p := f.next(now)
		if p == nil {
			return
		}
		p.state, p.isInside, p.until = "admitted", true, now.Add(f.window)
		inside++
	}
}

func (f *fake) next(now time.Time) *place {
	f.turns++
	order := f.places
	if f.flaw == unfair && f.turns%10 == 0 {
		order = slices.Clone(order)
		slices.Reverse(order)
	}
	for _, p := range order {
		if p.state == "waiting" && now.Sub(p.seen) < f.heartbeat && (f.flaw != stuck || p.n%40 != 7) {
			return p
		}
	}
	return nil
}

func (f *fake) join(w http.ResponseWriter, r *http.Request) {
	key, status := r.Header.Get("Idempotency-Key"), http.StatusOK
	p := f.keys[key]
	if p == nil {
		status = http.StatusCreated
		p = &place{n: len(f.places), state: "waiting"}
		f.places = append(f.places, p)
		f.keys[key] = p
		if r.Body != nil {
			var body struct{ Target string }
			_ = json.NewDecoder(r.Body).Decode(&body)
			p.target = body.Target
		}
	}
	p.seen = time.Now()
	f.tick(p.seen)
	f.standing(w, status, p)
}

func (f *fake) standing(w http.ResponseWriter, status int, p *place) {
	out := map[string]any{"state": p.state, "poll_after_ms": 1000, "ticket": fmt.Sprint("t-", p.n)}
	if p.state == "waiting" {
		ahead := 0
		for _, q := range f.places[:p.n] {
			if q.state == "waiting" {
				ahead++
			}
		}
		out["position"] = ahead + 1
	}
	reply(w, status, out)
}

// ticket answers what a ticket asks for.
func (f *fake) ticket(w http.ResponseWriter, what, token string) {
	var n int
	if _, err := fmt.Sscanf(token, "t-%d", &n); err != nil || n >= len(f.places) {
		reply(w, http.StatusUnauthorized, map[string]any{"title": "Join again"})
		return
	}
	p := f.places[n]
	p.seen = time.Now()
	switch {
	case what == "DELETE/ticket":
		p.state, p.isInside = "left", false
		reply(w, http.StatusOK, map[string]any{"state": "left"})
	case p.state == "left" && f.flaw == revolving:
		reply(w, http.StatusOK, map[string]any{"state": "admitted"})
	case p.state == "left" && f.flaw == rejoining:
		reply(w, http.StatusOK, map[string]any{"state": "waiting", "position": 1})
	case p.state == "left", f.flaw == forgetful && n%40 == 7:
		reply(w, http.StatusUnauthorized, map[string]any{"title": "Join again"})
	case what == "GET/ticket":
		f.tick(p.seen)
		f.standing(w, http.StatusOK, p)
	case what == "POST/ticket/claim":
		f.claim(w, p)
	}
}

func (f *fake) claim(w http.ResponseWriter, p *place) {
	sub := p.n
	switch {
	case p.state == "waiting", p.state == "active" && f.flaw == kicking:
		reply(w, http.StatusConflict, map[string]any{"state": "waiting"})
		return
	case p.state == "active" && f.flaw == lavish:
		sub += 1000
	case f.flaw == sharing:
		sub /= 2
	}
	if p.state == "admitted" {
		p.state, p.until = "active", time.Now().Add(f.session)
	}
	claims := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"sub":"s-%d","jti":%d}`, sub, f.passes))
	f.passes++
	left := int(time.Until(p.until).Seconds())
	if now := time.Now(); !f.wipeAt.IsZero() && now.After(f.wipeAt) && f.used() >= f.capacity/2 {
		f.wipe(now)
	}
	reply(w, http.StatusOK, map[string]any{"pass": "h." + claims + ".s", "expires_in_s": left, "redirect": p.target})
}

func (f *fake) release(w http.ResponseWriter, r *http.Request) {
	var body struct{ Pass string }
	var n int
	sub := ""
	if json.NewDecoder(r.Body).Decode(&body) == nil {
		sub, _ = subject(body.Pass)
	}
	if _, err := fmt.Sscanf(sub, "s-%d", &n); bearerOf(r) != "the key of the shop" || err != nil {
		reply(w, http.StatusUnauthorized, map[string]any{"title": "API key needed"})
		return
	}
	f.places[n].state, f.places[n].isInside = "left", false
	w.WriteHeader(http.StatusNoContent)
}

var errTorn = fmt.Errorf("the network: %w", syscall.ECONNRESET)

// network carries requests to a handler in memory, with a little latency. Its hook says
// what happens to the n-th request: whether the handler sees it, and the error that comes
// back instead of its answer.
type network struct {
	handler http.Handler
	hook    func(n int, r *http.Request) (apply bool, err error)

	mu sync.Mutex
	n  int
}

func (t *network) RoundTrip(r *http.Request) (*http.Response, error) {
	t.mu.Lock()
	t.n++
	n := t.n
	t.mu.Unlock()
	apply, err := true, error(nil)
	if t.hook != nil {
		apply, err = t.hook(n, r)
	}
	<-time.After(time.Millisecond)
	w := httptest.NewRecorder()
	if apply {
		t.handler.ServeHTTP(w, r)
	}
	<-time.After(time.Millisecond)
	if errors.Is(err, errBusy) {
		w = httptest.NewRecorder()
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// errBusy makes the network answer 503.
var errBusy = errors.New("busy")
