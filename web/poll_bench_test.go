package web_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
	"github.com/anteroom/anteroom/web"
)

// far answers every poll at once: what is left is the front.
type far struct{}

func (far) Poll(context.Context, queue.Room, queue.Ticket) (queue.Standing, error) {
	return queue.Standing{State: queue.Waiting, Ahead: 50_000, PollAfter: 15 * time.Second, Generation: 1}, nil
}

func (far) Last(string) (queue.Status, bool) { return queue.Status{}, true }

// sink is a ResponseWriter that keeps nothing.
type sink struct{ header http.Header }

func (s sink) Header() http.Header         { return s.header }
func (s sink) WriteHeader(int)             {}
func (s sink) Write(b []byte) (int, error) { return len(b), nil }

func BenchmarkPoll(b *testing.B) {
	all, err := rooms.Parse("rooms.yaml", []byte("rooms:\n  - {name: sale, capacity: 1, rate: 100/s, targets: [shop.test], default_target: 'https://shop.test/'}\n"))
	if err != nil {
		b.Fatal(err)
	}
	tickets, err := queue.NewSigner(make([]byte, 32))
	if err != nil {
		b.Fatal(err)
	}
	key, err := pass.GenerateKey()
	if err != nil {
		b.Fatal(err)
	}
	passes, err := pass.NewSigner("test", key)
	if err != nil {
		b.Fatal(err)
	}
	bearers := make([][]string, 200_000) // a ticket that asks again and again is slowed
	for i := range bearers {
		id := tickets.DeriveID("sale", strconv.Itoa(i), 0)
		token, err := tickets.Sign(queue.Ticket{Room: "sale", Generation: 1, ID: id, Place: 1_764_556_800_000_000, Target: "https://shop.test/cart"})
		if err != nil {
			b.Fatal(err)
		}
		bearers[i] = []string{"Bearer " + token}
	}
	handler := web.New(web.Config{
		Polls: far{}, Rooms: rooms.Fixed(all...), Statuses: far{}, Tickets: tickets, Passes: passes,
		PublicURL: &url.URL{Scheme: "https", Host: "queue.test"}, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	}).Handler()
	r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "https://queue.test/v1/rooms/sale/ticket", nil)
	w, next := sink{http.Header{}}, 0
	b.ReportAllocs()
	for b.Loop() {
		next = (next + 1) % len(bearers)
		r.Header["Authorization"] = bearers[next]
		clear(w.header)
		handler.ServeHTTP(w, r)
	}
}
