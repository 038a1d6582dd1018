package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anteroom/anteroom/internal/bench/load"
	"github.com/anteroom/anteroom/internal/store"
	"github.com/anteroom/anteroom/queue"
	"github.com/anteroom/anteroom/web"
	"github.com/anteroom/anteroom/web/gate"
)

// order is what a server is told to be: plain with an answer, else the real front.
type order struct {
	Redis  string // URL
	Answer *load.Answer
}

const storeTimeout = 400 * time.Millisecond

func handler(text json.RawMessage, address string) (http.Handler, error) {
	var o order
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, err
	}
	if o.Answer != nil {
		return load.Plain("/gate", *o.Answer), nil
	}
	return o.front(address)
}

// front is the public front of cmd/server with its gate, which works in the background.
func (o order) front(address string) (http.Handler, error) {
	rdb, err := store.Open(o.Redis) // closed by the end of the process
	if err != nil {
		return nil, err
	}
	registry, err := openRooms()
	if err != nil {
		return nil, err
	}
	tickets, err := queue.NewSigner(make([]byte, 32))
	if err != nil {
		return nil, err
	}
	passes, err := newPasses()
	if err != nil {
		return nil, err
	}
	line, log, metrics := queue.New(rdb), slog.New(slog.DiscardHandler), prometheus.NewRegistry()
	watch := queue.NewWatch(line, registry.Queue, log)
	door := gate.New(gate.Config{Line: line, Rooms: registry, Statuses: watch, Passes: passes, Log: log, Metrics: metrics})
	go func() { _ = watch.Run(context.Background()) }()
	go func() { _ = door.Run(context.Background()) }()
	return web.New(web.Config{
		Line: line, Polls: queue.NewGroup(line, storeTimeout/2), Statuses: watch, Rooms: registry, Tickets: tickets,
		Gate: door, Passes: passes, PublicURL: &url.URL{Scheme: "http", Host: address},
		TrustedProxies: private(), Log: log, Metrics: metrics,
		Ready: func(ctx context.Context) error { return rdb.Ping(ctx).Err() }, StoreTimeout: storeTimeout,
	}).Handler(), nil
}

// private are the networks that cmd/server trusts by default, in its order.
func private() []netip.Prefix {
	var all []netip.Prefix
	for _, network := range []string{"127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"} {
		all = append(all, netip.MustParsePrefix(network))
	}
	return all
}
