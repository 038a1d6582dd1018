package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anteroom/anteroom/internal/bench/load"
	"github.com/anteroom/anteroom/internal/store"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
	"github.com/anteroom/anteroom/queue/recall"
	"github.com/anteroom/anteroom/web"
)

// order is what a server is told to be.
type order struct {
	Kind   string      // plain, alone, grouped, memory
	Redis  string      // URL, unless plain
	Answer load.Answer // of plain
}

const storeTimeout = 400 * time.Millisecond

func handler(text json.RawMessage, address string) (http.Handler, error) {
	var o order
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, err
	}
	switch o.Kind {
	case "plain":
		return load.Plain("/v1/rooms/{room}/ticket", o.Answer), nil
	case "alone", "grouped", "memory":
		return o.front(address)
	default:
		return nil, fmt.Errorf("no server is called %q", o.Kind)
	}
}

// front is the public front of cmd/server.
func (o order) front(address string) (http.Handler, error) {
	rdb, err := store.Open(o.Redis) // closed by the end of the process
	if err != nil {
		return nil, err
	}
	registry, err := openRooms()
	if err != nil {
		return nil, err
	}
	tickets, err := newTickets()
	if err != nil {
		return nil, err
	}
	key, err := pass.GenerateKey()
	if err != nil {
		return nil, err
	}
	passes, err := pass.NewSigner("http://"+address, key)
	if err != nil {
		return nil, err
	}
	line, log := queue.New(rdb), slog.New(slog.DiscardHandler)
	watch := queue.NewWatch(line, registry.Queue, log)
	go func() { _ = watch.Run(context.Background()) }()
	polls := web.Poller(queue.NewGroup(line, storeTimeout))
	switch o.Kind {
	case "alone":
		polls = alone{line}
	case "memory":
		memory := recall.New(polls, line, log, prometheus.NewRegistry())
		go func() { _ = memory.Run(context.Background()) }()
		polls = memory
	}
	return web.New(web.Config{
		Line: line, Polls: polls, Statuses: watch, Rooms: registry, Tickets: tickets, Passes: passes,
		PublicURL: &url.URL{Scheme: "http", Host: address}, Log: log, Metrics: prometheus.NewRegistry(),
		Ready: func(ctx context.Context) error { return rdb.Ping(ctx).Err() }, StoreTimeout: storeTimeout,
	}).Handler(), nil
}

// alone sends each poll by itself, as a handler without queue.Group would.
type alone struct{ line *queue.Line }

func (a alone) Poll(ctx context.Context, room queue.Room, t queue.Ticket) (queue.Standing, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	out, err := a.line.Poll(ctx, room, []queue.Ticket{t})
	if err != nil {
		return queue.Standing{}, err
	}
	return out[0], nil
}
