// Package fronttest is the whole HTTP front over sockets, as cmd/server builds it, for tests
// that ask it from outside.
package fronttest

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
	"github.com/anteroom/anteroom/web"
	"github.com/anteroom/anteroom/web/gate"
)

// Front serves the rooms of a file. Nothing runs in the background: tests ask, and see.
type Front struct {
	*httptest.Server
	Line   *queue.Line
	Watch  *queue.Watch
	Passes *pass.Signer
	// Retired signs with a key that was replaced and still counts.
	Retired *pass.Signer
	Rooms   *rooms.Registry
	t       *testing.T
}

// New serves until the test ends. The proxies on this machine are trusted.
func New(t *testing.T, rdb redis.UniversalClient, public *url.URL, file string) *Front {
	t.Helper()
	all, err := rooms.Parse("rooms.yaml", []byte(file))
	must(t, err)
	f := &Front{t: t, Line: queue.New(rdb), Rooms: rooms.Fixed(all...)}
	log := slog.New(slog.DiscardHandler)
	f.Watch = queue.NewWatch(f.Line, f.Rooms.Queue, log)
	tickets, err := queue.NewSigner(make([]byte, 32))
	must(t, err)
	key, err := pass.GenerateKey()
	must(t, err)
	old, err := pass.GenerateKey()
	must(t, err)
	f.Retired, err = pass.NewSigner("test", old)
	must(t, err)
	f.Passes, err = pass.NewSigner("test", key, old.Public().(ed25519.PublicKey))
	must(t, err)
	f.Server = httptest.NewServer(web.New(web.Config{
		Line: f.Line, Polls: queue.NewGroup(f.Line, 10*time.Second), Rooms: f.Rooms, Statuses: f.Watch, Tickets: tickets, Passes: f.Passes,
		StoreTimeout: 10 * time.Second, PublicURL: public, Log: log, Metrics: prometheus.NewRegistry(), Ready: func(context.Context) error { return nil },
		Gate:           gate.New(gate.Config{Line: f.Line, Rooms: f.Rooms, Statuses: f.Watch, Passes: f.Passes, Log: log, Metrics: prometheus.NewRegistry(), AskTimeout: 5 * time.Second}),
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
	}).Handler())
	t.Cleanup(f.Close)
	return f
}

// Pass lets a visitor of a room in and returns the pass.
func (f *Front) Pass(name string, id queue.ID) string {
	f.t.Helper()
	room, ok := f.Rooms.Get(name)
	if !ok {
		f.t.Fatalf("no room %s", name)
	}
	got, err := f.Line.Join(f.t.Context(), room.Queue(), id, nil)
	must(f.t, err)
	at, err := f.Line.Claim(f.t.Context(), room.Queue(), queue.Ticket{Room: name, Generation: got.Generation, ID: id, Place: got.Place})
	must(f.t, err)
	if at.State != queue.Active {
		f.t.Fatalf("claim answered %s", at.State)
	}
	token, _, err := f.Passes.Sign(name, string(id), at.Generation, time.Now(), time.Now().Add(at.Left))
	must(f.t, err)
	return token
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
