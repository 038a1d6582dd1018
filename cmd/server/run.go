package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/admission"
	"github.com/anteroom/anteroom/internal/demoshop"
	"github.com/anteroom/anteroom/internal/embedded"
	"github.com/anteroom/anteroom/internal/keys"
	"github.com/anteroom/anteroom/internal/lifecycle"
	"github.com/anteroom/anteroom/internal/ops"
	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/internal/store"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
	"github.com/anteroom/anteroom/web"
)

const (
	storeTimeout = 400 * time.Millisecond
	startTimeout = 10 * time.Second
)

// run serves until ctx ends. ready, if not nil, is called with the public address when
// requests are answered.
//
//	visitors ──▶ listener ──▶ web ──▶ queue.Group ──▶ queue.Line ──▶ Redis (given, or embedded)
//	                           │                          ▲
//	                           ├──▶ demo shop             ├── queue.Watch        status, once a second
//	                           └──▶ keys (tickets, pass)  └── admission.Worker   with --admit or embedded
//	operator ──▶ ops listener ──▶ metrics, pprof
func run(ctx context.Context, cfg settings, out, errOut io.Writer, ready func(public *url.URL)) error {
	log := cfg.Logger(errOut)
	listener, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // a second close, after Serve, is harmless
	public := cfg.public(listener.Addr())

	secrets, err := keys.Load(cfg.Keys)
	if err != nil {
		return err
	}
	registry, err := openRooms(cfg, public)
	if err != nil {
		return err
	}
	group := lifecycle.New(ctx, log)
	rdb, closeStore, err := openStore(ctx, cfg, log, group)
	if err != nil {
		return err
	}
	defer closeStore()

	line := queue.New(rdb)
	watch := queue.NewWatch(line, registry.Queue, log)
	metrics := ops.NewRegistry()
	server, err := newWeb(cfg, secrets, line, watch, registry, rdb, public, log)
	if err != nil {
		return err
	}
	server.Metrics = metrics
	if cfg.RoomsFile == "" {
		server.Home = newShop(server.Passes, watch)
	}

	group.Worker("watch", watch.Run)
	if cfg.Admit || cfg.RedisURL == "" {
		group.Worker("admission", admission.NewWorker(line, registry.Queue, log, metrics).Run)
	}
	group.OnHangup(registry.Reload)
	opsAt := ""
	if cfg.OpsListen != "" {
		opsListener, err := net.Listen("tcp", cfg.OpsListen)
		if err != nil {
			return fmt.Errorf("%w (another --ops-listen, or an empty one, mends this)", err)
		}
		opsAt = opsListener.Addr().String()
		group.Serve("ops", ops.NewServer(metrics), opsListener)
	}
	group.Serve("http", httpServer(web.New(server).Handler(), log), listener)
	greet(out, public, registry.All(), cfg.RoomsFile == "", opsAt)
	if ready != nil {
		ready(public)
	}
	return group.Run()
}

// openRooms reads the rooms file, or makes the demo room for the addresses by which a
// browser on this machine reaches it.
func openRooms(cfg settings, public *url.URL) (*rooms.Registry, error) {
	if cfg.RoomsFile != "" {
		return rooms.Open(cfg.RoomsFile)
	}
	return rooms.Fixed(rooms.Demo(public.Host, "127.0.0.1:"+public.Port())), nil
}

// openStore connects to the given Redis, or starts the embedded one as part of group.
func openStore(ctx context.Context, cfg settings, log *slog.Logger, group *lifecycle.Group) (redis.UniversalClient, func(), error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	address, stop := cfg.RedisURL, func() {}
	if address == "" {
		r, err := embedded.Start(ctx, filepath.Join(cfg.Keys.DataDir, "redis"), log)
		if err != nil {
			return nil, nil, err
		}
		log.Info("embedded store", "kind", r.Kind, "note", r.Note)
		group.Worker("embedded redis", func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return nil
			case err := <-r.Done():
				return err
			}
		})
		address, stop = r.URL, r.Close
	}
	rdb, err := store.Open(address)
	if err != nil {
		stop()
		return nil, nil, err
	}
	closeStore := func() { _ = rdb.Close(); stop() }
	if err := store.Check(ctx, rdb, cfg.AllowEviction, log); err != nil {
		closeStore()
		return nil, nil, err
	}
	return rdb, closeStore, nil
}

func newWeb(cfg settings, secrets keys.Set, line *queue.Line, watch *queue.Watch, registry *rooms.Registry, rdb redis.UniversalClient, public *url.URL, log *slog.Logger) (web.Config, error) {
	tickets, err := queue.NewSigner(secrets.Ticket, secrets.TicketAccepted...)
	if err != nil {
		return web.Config{}, err
	}
	passes, err := pass.NewSigner(public.String(), secrets.Signing, secrets.SigningRetired...)
	if err != nil {
		return web.Config{}, err
	}
	return web.Config{
		Line: line, Polls: queue.NewGroup(line, storeTimeout), Statuses: watch, Rooms: registry,
		Tickets: tickets, Passes: passes, PublicURL: public, APIKeys: cfg.APIKeys, Log: log,
		Ready:        func(ctx context.Context) error { return rdb.Ping(ctx).Err() },
		StoreTimeout: storeTimeout,
	}, nil
}

// newShop is the demo shop, gated as any shop in Go would be.
func newShop(passes *pass.Signer, watch *queue.Watch) http.Handler {
	return demoshop.New(demoshop.Config{
		LeavePath: "/r/demo/leave",
		Gate: pass.Middleware(pass.Config{
			Room: "demo", Verifier: pass.Verifier{Keys: passes.Keys()}, QueueURL: "/r/demo",
			MinGeneration: func() int64 { s, _ := watch.Last("demo"); return s.Generation },
		}),
	})
}

// httpServer has a limit for each way in which a client can be slow.
func httpServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: 90 * time.Second, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// greet prints what to open.
func greet(out io.Writer, public *url.URL, all []rooms.Room, demo bool, opsAt string) {
	_, _ = fmt.Fprintln(out, "Anteroom is up.")
	if demo {
		_, _ = fmt.Fprintf(out, "  demo shop   %s/   (open it in several browsers to see a line)\n", public)
	}
	for _, r := range all {
		_, _ = fmt.Fprintf(out, "  queue page  %s/r/%s\n", public, r.Name)
	}
	if opsAt != "" {
		_, _ = fmt.Fprintf(out, "  metrics     http://%s/metrics\n", opsAt)
	}
}
