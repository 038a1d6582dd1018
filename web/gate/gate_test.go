package gate_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
	"github.com/anteroom/anteroom/web/gate"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// counted is a line that counts its calls, and fails when it is told to.
type counted struct {
	*queue.Line
	mu      sync.Mutex
	touches int
	err     error
}

func (c *counted) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

func (c *counted) calls() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.touches
}

func (c *counted) Touch(ctx context.Context, room queue.Room, passes []queue.Inside) ([]queue.Standing, error) {
	c.mu.Lock()
	c.touches += len(passes)
	err := c.err
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return c.Line.Touch(ctx, room, passes)
}

func (c *counted) Redeem(ctx context.Context, room queue.Room, token string, gen int64, keep time.Duration) (bool, error) {
	c.mu.Lock()
	err := c.err
	c.mu.Unlock()
	if err != nil {
		return false, err
	}
	return c.Line.Redeem(ctx, room, token, gen, keep)
}

// door is a gate before one room, with a clock that the test moves. The line keeps real
// time.
type door struct {
	*gate.Gate
	t      *testing.T
	line   *counted
	passes *pass.Signer
	room   rooms.Room
	watch  *queue.Watch
	ahead  time.Duration
}

func newDoor(t *testing.T, rdb *redis.Client, fields string) *door {
	t.Helper()
	name := redistest.RoomName(t)
	all, err := rooms.Parse("rooms.yaml", []byte("rooms:\n  - name: "+name+"\n    capacity: 5\n    rate: 100/s\n    burst: 5\n    match: [{host: shop.test, path: /sale}]\n"+fields))
	if err != nil {
		t.Fatal(err)
	}
	key, err := pass.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	passes, err := pass.NewSigner("test", key)
	if err != nil {
		t.Fatal(err)
	}
	d := &door{t: t, line: &counted{Line: queue.New(rdb)}, passes: passes, room: all[0]}
	registry := rooms.Fixed(all...)
	d.watch = queue.NewWatch(d.line.Line, registry.Queue, slog.New(slog.DiscardHandler))
	d.Gate = gate.New(gate.Config{
		Line: d.line, Rooms: registry, Statuses: d.watch, Passes: passes, Log: slog.New(slog.DiscardHandler),
		Metrics: prometheus.NewRegistry(), Now: func() time.Time { return time.Now().Add(d.ahead) }, AskTimeout: 5 * time.Second,
	})
	return d
}

// enter lets a visitor in and returns the pass.
func (d *door) enter(id queue.ID) (string, pass.Claims) {
	d.t.Helper()
	got, err := d.line.Join(d.t.Context(), d.room.Queue(), id, nil)
	if err != nil || got.State != queue.Admitted {
		d.t.Fatalf("join answered %s, %v", got.State, err)
	}
	ticket := queue.Ticket{Room: d.room.Name, Generation: got.Generation, ID: id, Place: got.Place}
	at, err := d.line.Claim(d.t.Context(), d.room.Queue(), ticket)
	if err != nil || at.State != queue.Active {
		d.t.Fatalf("claim answered %s, %v", at.State, err)
	}
	token, claims, err := d.passes.Sign(d.room.Name, string(id), at.Generation, time.Now(), time.Now().Add(at.Left))
	if err != nil {
		d.t.Fatal(err)
	}
	return token, claims
}

func (d *door) get(uri, token string) gate.Answer { return d.ask("GET", uri, token) }

func (d *door) ask(method, uri, token string) gate.Answer {
	h := http.Header{"Accept": {"text/html"}}
	if token != "" {
		h.Set("Cookie", pass.CookieName(d.room.Name)+"="+token)
	}
	return d.Ask(d.t.Context(), gate.Request{Method: method, Scheme: "https", Host: "shop.test", URI: uri, Header: h})
}

func (d *door) want(what string, a gate.Answer, outcome gate.Outcome, reason gate.Reason) {
	d.t.Helper()
	if a.Outcome != outcome || a.Reason != reason {
		d.t.Errorf("%s: outcome %d because %s, want %d because %s", what, a.Outcome, a.Reason, outcome, reason)
	}
}

func TestGate_WhichRequestsNeedAPass(t *testing.T) {
	t.Parallel()
	d := newDoor(t, redistest.Embedded(t), "    exempt: {paths: [/sale/terms]}\n")
	token, _ := d.enter("visitor-00000000000001")
	d.want("no room", d.get("/other", ""), gate.Through, gate.NoRoom)
	d.want("no pass", d.get("/sale/x?a=1", ""), gate.Queue, gate.NoPass)
	d.want("another spelling", d.get("/x/..%2fSALE/", ""), gate.Queue, gate.NoPass)
	d.want("a pass", d.get("/sale", token), gate.Through, gate.HasPass)
	d.want("a forged pass", d.get("/sale", token[:len(token)-4]+"AAAA"), gate.Queue, gate.NoPass)
	d.want("an exempt path", d.get("/sale/terms", ""), gate.Through, gate.Exempt)
	d.want("an asset", d.get("/sale/a.css", ""), gate.Through, gate.Exempt)
	d.want("a malformed path", d.get("/sale%zz", token), gate.Bad, gate.BadPath)
	off := newDoor(t, redistest.Embedded(t), "    enabled: false\n")
	off.want("a room that is off", off.get("/sale", ""), gate.Through, gate.Off)
}

func TestGate_APassThatIsKnownCostsNoCall(t *testing.T) {
	t.Parallel()
	d := newDoor(t, redistest.Embedded(t), "")
	token, _ := d.enter("visitor-00000000000001")
	d.want("the first", d.get("/sale", token), gate.Through, gate.HasPass)
	before := d.line.calls()
	for range 100 {
		d.want("one more", d.get("/sale", token), gate.Through, gate.HasPass)
	}
	if n := d.line.calls() - before; n != 0 {
		t.Errorf("100 requests made %d touches, want none", n)
	}
	d.ahead = 1100 * time.Millisecond
	d.want("after a second", d.get("/sale", token), gate.Through, gate.HasPass)
	if n := d.line.calls() - before; n != 1 {
		t.Errorf("a request after a second made %d touches, want 1", n)
	}
}

// The short way of a known cookie settles nothing that the whole look would not.
func TestGate_AKnownCookieHidesNoOtherPass(t *testing.T) {
	t.Parallel()
	d := newDoor(t, redistest.Embedded(t), "")
	first, _ := d.enter("visitor-00000000000001")
	second, claims := d.enter("visitor-00000000000002")
	d.get("/sale", first)
	d.get("/sale", second)
	name := pass.CookieName(d.room.Name)
	ask := func(what string, h http.Header) {
		t.Helper()
		a := d.Ask(t.Context(), gate.Request{Method: "GET", Scheme: "https", Host: "shop.test", URI: "/sale", Header: h})
		d.want(what, a, gate.Through, gate.HasPass)
		if a.Claims.Visitor != claims.Visitor {
			t.Errorf("%s: the visitor is %s, want %s", what, a.Claims.Visitor, claims.Visitor)
		}
	}
	cookie := name + "=" + first
	ask("a header first", http.Header{"Cookie": {cookie}, pass.HeaderPass: {second}})
	ask("a bearer first", http.Header{"Cookie": {cookie}, "Authorization": {"Bearer " + second}})
	ask("a quoted cookie", http.Header{"Cookie": {name + `="` + second + `"`}})
	if _, err := d.line.Release(t.Context(), d.room.Queue(), "visitor-00000000000001"); err != nil {
		t.Fatal(err)
	}
	d.ahead = 1100 * time.Millisecond
	ask("an ended one first", http.Header{"Cookie": {cookie + "; " + name + "=" + second}})
	ask("an ended one first, known", http.Header{"Cookie": {cookie + "; " + name + "=" + second}})
}

// What ends a session is seen within a second; on another room a pass is none.
func TestGate_AReleasedResetOrForeignPassDoesNotCount(t *testing.T) {
	t.Parallel()
	d := newDoor(t, redistest.Embedded(t), "")
	released, _ := d.enter("visitor-00000000000001")
	reset, claims := d.enter("visitor-00000000000002")
	foreign, _, err := d.passes.Sign("another", "visitor-00000000000002", 1, time.Now(), time.Now().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	d.want("of another room", d.get("/sale", foreign), gate.Queue, gate.NoPass)
	d.get("/sale", released)
	if _, err := d.line.Release(t.Context(), d.room.Queue(), "visitor-00000000000001"); err != nil {
		t.Fatal(err)
	}
	d.ahead = 1100 * time.Millisecond
	d.want("released", d.get("/sale", released), gate.Queue, gate.Ended)
	d.want("released, a form", d.ask("POST", "/sale", released), gate.Queue, gate.Ended)
	d.want("inside", d.get("/sale", reset), gate.Through, gate.HasPass)
	if _, err := d.line.Reset(t.Context(), d.room.Queue(), claims.Generation); err != nil {
		t.Fatal(err)
	}
	d.ahead = 2200 * time.Millisecond
	d.want("after a reset", d.get("/sale", reset), gate.Queue, gate.Ended)
	d.want("no second chance", d.get("/sale", reset), gate.Queue, gate.Ended)
}

func TestGate_ActivityExtendsASlidingSessionUpToItsMost(t *testing.T) {
	t.Parallel()
	d := newDoor(t, redistest.Embedded(t), "    session: 4s\n    max_session: 7s\n")
	token, _ := d.enter("visitor-00000000000001")
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	began, renewed := time.Now(), ""
	for {
		a := d.get("/sale", token)
		if a.Outcome != gate.Through {
			break
		}
		if a.Token != "" {
			renewed = a.Token
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the session goes on for ever")
		}
	}
	if took := time.Since(began); took < 5500*time.Millisecond || took > 12*time.Second {
		t.Errorf("a busy session of 4 s, at most 7 s, ended after %v", took)
	}
	if renewed == "" {
		t.Error("the pass was never renewed")
	}
}

// WR-10: nobody is interrupted in mid-form because the session ran out.
func TestWR10_AFormSentJustAfterTheEndGoesThrough(t *testing.T) {
	t.Parallel()
	d := newDoor(t, redistest.Embedded(t), "    session: 1s\n    renew: fixed\n")
	token, _ := d.enter("visitor-00000000000001")
	d.want("inside", d.get("/sale", token), gate.Through, gate.HasPass)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); d.get("/sale", token).Outcome == gate.Through && time.Now().Before(end); <-tick.C {
		continue
	}
	d.want("a page after the end", d.get("/sale", token), gate.Queue, gate.Ended)
	d.want("a form after the end", d.ask("POST", "/sale", token), gate.Through, gate.HasPass)
	d.ahead = time.Minute
	d.want("a form a minute later", d.ask("POST", "/sale", token), gate.Queue, gate.Ended)
}

func TestGate_StoreAway(t *testing.T) {
	t.Parallel()
	for mode, after := range map[string]gate.Outcome{"hold": gate.Queue, "admit": gate.Through} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t, redistest.Embedded(t), "    on_store_error: "+mode+"\n")
			token, claims := d.enter("visitor-00000000000001")
			fresh, _ := d.enter("visitor-00000000000002")
			d.get("/sale", token)
			d.line.fail(errors.New("away"))
			d.ahead = 2 * time.Second
			began := time.Now()
			d.want("a pass known here", d.get("/sale", token), gate.Through, gate.Offline)
			d.want("a pass new here", d.get("/sale", fresh), gate.Through, gate.Offline)
			if took := time.Since(began); took > 100*time.Millisecond {
				t.Errorf("two answers took %v", took)
			}
			a := d.get("/sale", "")
			d.want("no pass", a, after, gate.StoreAway)
			if mode == "admit" {
				if a.Token == "" {
					t.Fatal("who is let in gets no pass")
				}
				through := 0
				for range 500 {
					if d.get("/sale", "").Outcome == gate.Through {
						through++
					}
				}
				if through > 60 {
					t.Errorf("%d of 500 at once were let in at a rate of 100/s with a burst of 5", through)
				}
			}
			d.ahead = time.Until(claims.Expires) + 10*time.Second
			if a := d.get("/sale", token); a.Reason == gate.Offline {
				t.Error("a pass counts offline after its end")
			}
		})
	}
}

// WR-15: one hand-over URL, fifty jars.
func TestWR15_AHandoverIsRedeemedOnce(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		d := newDoor(t, rdb, "")
		_, claims := d.enter("visitor-00000000000001")
		token, _, err := d.passes.SignHandover(claims, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		uri := pass.AddHandover("/sale?a=1&b=%26", token)
		var mu sync.Mutex
		var winners []gate.Answer
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				a := d.get(uri, "")
				mu.Lock()
				defer mu.Unlock()
				if a.Request.URI != "/sale?a=1&b=%26" {
					t.Errorf("the clean address is %q", a.Request.URI)
				}
				switch {
				case a.Outcome == gate.Swap && a.Token != "":
					winners = append(winners, a)
				case a.Outcome != gate.Queue || a.Reason != gate.Used:
					t.Errorf("a loser: outcome %d because %s", a.Outcome, a.Reason)
				}
			})
		}
		wg.Wait()
		if len(winners) != 1 {
			t.Fatalf("%d of 50 were let in by one hand-over, want 1", len(winners))
		}
		odd := pass.AddHandover("//evil.test/a", token)
		if to := (gate.Request{Scheme: "https", Host: "shop.test", URI: odd}).Again(); !strings.HasPrefix(to, "https://shop.test//evil.test/") {
			t.Errorf("a path of two slashes leads to %q", to)
		}
		d.want("the winner's pass", d.get("/sale", winners[0].Token), gate.Through, gate.HasPass)
		d.want("the token as a pass", d.get("/sale", token), gate.Queue, gate.NoPass)
	})
}
