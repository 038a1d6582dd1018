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

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/admission"
	"github.com/anteroom/anteroom/internal/demoshop"
	"github.com/anteroom/anteroom/internal/embedded"
	"github.com/anteroom/anteroom/internal/history"
	"github.com/anteroom/anteroom/internal/keys"
	"github.com/anteroom/anteroom/internal/lifecycle"
	"github.com/anteroom/anteroom/internal/ops"
	"github.com/anteroom/anteroom/internal/rooms"
	operator "github.com/anteroom/anteroom/internal/settings"
	"github.com/anteroom/anteroom/internal/store"
	"github.com/anteroom/anteroom/limit/redislimit"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
	"github.com/anteroom/anteroom/queue/recall"
	"github.com/anteroom/anteroom/web"
	"github.com/anteroom/anteroom/web/gate"
)

const (
	storeTimeout = 400 * time.Millisecond
	startTimeout = 10 * time.Second
)

// run serves until ctx ends. ready, if not nil, is called with the public address when
// connections are taken.
//
//	visitors ──▶ listener ──▶ web ──▶ queue.Group ──▶ queue.Line ──▶ Redis (given, or embedded)
//	proxies  ──▶               ├──▶ gate.Gate ─────────▶ ┤
//	                           │                          ▲
//	                           ├──▶ demo shop             ├── queue.Watch        status, once a second
//	                           └──▶ keys (tickets, pass)  └── admission.Worker   with --admit or embedded
//	operator ──▶ ops listener ──▶ metrics, pprof
func run(ctx context.Context, cfg settings, out, errOut io.Writer, ready func(public *url.URL)) error {
	log := cfg.Logger(errOut)
	store.LogTo(log)
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
	registry.WarnThemes(log)
	group := lifecycle.New(ctx, log)
	var front *web.Server // there before the first hangup is acted on
	group.OnHangup(func() { reread(cfg, registry, front, log) })
	rdb, closeStore, err := openStore(ctx, cfg, log, group)
	if err != nil {
		return err
	}
	defer closeStore()

	p := parts{cfg: cfg, log: log, public: public, secrets: secrets, registry: registry, rdb: rdb, metrics: ops.NewRegistry()}
	p.connect()
	if err := p.over.Look(ctx); err != nil {
		return err
	}
	p.remember(group)
	if front, err = p.front(); err != nil {
		return err
	}
	front.CheckThemes(log)
	group.Worker("watch", p.watch.Run)
	group.Worker("settings", p.over.Run)
	group.Worker("gate", front.Gate.Run)
	if cfg.Admit || cfg.RedisURL == "" {
		group.Worker("admission", admission.NewWorker(p.line, registry.Queue, log, p.metrics).Run)
		group.Worker("history", history.NewRecorder(history.NewStore(rdb), p.line, registry.All, log).Run)
	}
	opsAt, err := group.ServeOps(ops.NewServer(p.metrics), cfg.OpsListen)
	if err != nil {
		return err
	}
	group.Serve("http", httpServer(front.Handler(), log), listener)
	greet(out, public, registry.All(), cfg.RoomsFile == "", opsAt)
	if ready != nil {
		ready(public)
	}
	return group.Run()
}

// reread takes what has changed in the files.
func reread(cfg settings, registry *rooms.Registry, front *web.Server, log *slog.Logger) {
	registry.Refresh(log)
	front.CheckThemes(log)
	if cfg.LimitsFile != "" {
		front.Limits.Reload(cfg.LimitsFile, log)
	}
}

// parts is what the front is made of.
type parts struct {
	cfg      settings
	log      *slog.Logger
	public   *url.URL
	secrets  keys.Set
	registry *rooms.Registry
	rdb      redis.UniversalClient
	line     *queue.Line
	steps    web.Line   // line, with what is remembered before it
	polls    web.Poller // likewise
	watch    *queue.Watch
	over     *operator.Watch
	metrics  *prometheus.Registry
}

// connect makes what speaks to Redis. It asks nothing yet.
func (p *parts) connect() {
	p.line = queue.New(p.rdb)
	p.steps, p.polls = p.line, queue.NewGroup(p.line, storeTimeout/2)
	p.watch = queue.NewWatch(p.line, p.registry.Queue, p.log)
	p.over = operator.NewWatch(operator.New(p.rdb), p.registry, p.log)
}

// remember puts this server's memory before the line, unless every poll shall be exact.
func (p *parts) remember(group *lifecycle.Group) {
	if p.cfg.ExactPolls {
		return
	}
	memory := recall.New(p.polls, p.line, p.log, p.metrics)
	p.steps, p.polls = recall.Steps{Line: p.line, Memory: memory}, memory
	group.Worker("heartbeats", memory.Run)
	group.Worker("turns", func(ctx context.Context) error {
		return memory.Listen(ctx, p.rdb, func() (names []string) {
			for _, r := range p.registry.All() {
				names = append(names, r.Name)
			}
			return names
		})
	})
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

func (p parts) front() (*web.Server, error) {
	tickets, err := queue.NewSigner(p.secrets.Ticket, p.secrets.TicketAccepted...)
	if err != nil {
		return nil, err
	}
	passes, err := pass.NewSigner(p.public.String(), p.secrets.Signing, p.secrets.SigningRetired...)
	if err != nil {
		return nil, err
	}
	c := web.Config{
		Line: p.steps, Polls: p.polls, Statuses: p.watch, Rooms: p.registry,
		Tickets: tickets, Passes: passes, PublicURL: p.public, APIKeys: p.cfg.APIKeys, Log: p.log, Metrics: p.metrics,
		Ready:        func(ctx context.Context) error { return p.rdb.Ping(ctx).Err() },
		StoreTimeout: storeTimeout,
	}
	if c.Limits, err = p.limits(tickets); err != nil {
		return nil, err
	}
	c.Gate = gate.New(gate.Config{Line: p.line, Rooms: p.registry, Statuses: p.watch, Passes: passes, Log: p.log, Metrics: p.metrics})
	c.TrustedProxies, c.Preview = p.cfg.trusted, p.cfg.Preview || p.cfg.RoomsFile == ""
	if p.cfg.RoomsFile == "" {
		c.Home = newShop(passes, asked{c.Gate, p.registry})
	}
	return web.New(c), nil
}

// limits are kept in Redis, so that all servers count together. The tag puts them into one
// slot of a cluster: a policy's rules are decided in one step.
func (p parts) limits(tickets *queue.Signer) (*web.Limits, error) {
	limits, err := web.NewLimits(redislimit.New(p.rdb, redislimit.WithPrefix("anteroom:limit"), redislimit.WithTag("limits")), tickets.Key("limits"), 0, p.metrics)
	if err != nil || p.cfg.LimitsFile == "" {
		return limits, err
	}
	own, err := web.ReadLimits(p.cfg.LimitsFile)
	if err != nil {
		return nil, err
	}
	return limits, limits.Set(own)
}

// asked is the online check of a shop in this process.
type asked struct {
	gate  *gate.Gate
	rooms *rooms.Registry
}

// Check implements pass.Checker.
func (a asked) Check(ctx context.Context, name, token string) (bool, error) {
	room, ok := a.rooms.Get(name)
	if !ok {
		return false, nil
	}
	_, reason := a.gate.Check(ctx, room, token)
	return reason == gate.HasPass || reason == gate.Offline, nil
}

// newShop is the demo shop, gated as any shop in Go would be.
func newShop(passes *pass.Signer, online pass.Checker) http.Handler {
	return demoshop.New(demoshop.Config{
		LeavePath: "/r/demo/leave",
		Gate: pass.Middleware(pass.Config{
			Room: "demo", Verifier: pass.Verifier{Keys: passes.Keys()}, QueueURL: "/r/demo", Online: online,
		}),
	})
}

// httpServer has a limit for each way in which a client can be slow.
func httpServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: 90 * time.Second, MaxHeaderBytes: 128 << 10, // what the shipped proxies let through: or long headers would look as if we were down
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
