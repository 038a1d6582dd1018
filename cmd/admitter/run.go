package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/anteroom/anteroom/admission"
	"github.com/anteroom/anteroom/internal/config"
	"github.com/anteroom/anteroom/internal/history"
	"github.com/anteroom/anteroom/internal/lifecycle"
	"github.com/anteroom/anteroom/internal/ops"
	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/internal/settings"
	"github.com/anteroom/anteroom/internal/store"
	"github.com/anteroom/anteroom/queue"
)

const usage = `admitter - lets the people of Anteroom's waiting rooms in

USAGE
  admitter --redis-url URL --rooms FILE [flags]

DESCRIPTION
  Ends sessions that ran out, counts free places, and lets people in at each room's pace.
  Run as many as you like on one Redis: every step is atomic and checks capacity and pace
  itself, so there is no leader to lose. Use the same rooms file as the servers.

  Every flag has an environment variable: --redis-url is ANTEROOM_REDIS_URL.

  SIGHUP reads the rooms file again; a bad file keeps the old rooms and says why.
  SIGINT and SIGTERM finish the step in flight; a second one ends the program at once.

FLAGS
`

const examples = `
EXIT STATUS
  0  stopped by a signal    1  could not start or go on    2  wrong settings
`

func parse(args []string, env func(string) string, out io.Writer) (config.Common, error) {
	var c config.Common
	fs := pflag.NewFlagSet("admitter", pflag.ContinueOnError)
	c.Flags(fs, "127.0.0.1:9091")
	fs.Usage = func() { _, _ = fmt.Fprint(out, usage+fs.FlagUsages()+examples) }
	err := config.Parse(fs, args, env, out, func() []string {
		p := c.Problems()
		if c.RedisURL == "" {
			p = append(p, "--redis-url is missing: an admitter works on the Redis of the servers")
		}
		if c.RoomsFile == "" {
			p = append(p, "--rooms is missing: use the rooms file of the servers")
		}
		return p
	})
	return c, err
}

// run admits until ctx ends. ready, if not nil, is called when the worker begins.
//
//	admission.Worker ──▶ queue.Line ──▶ Redis
//	operator ──▶ ops listener ──▶ metrics, pprof, readiness
func run(ctx context.Context, cfg config.Common, errOut io.Writer, ready func()) error {
	log := cfg.Logger(errOut)
	store.LogTo(log)
	registry, err := rooms.Open(cfg.RoomsFile)
	if err != nil {
		return err
	}
	group := lifecycle.New(ctx, log)
	group.OnHangup(func() { registry.Refresh(log) })
	rdb, err := store.Open(cfg.RedisURL)
	if err != nil {
		return err
	}
	defer func() { _ = rdb.Close() }()
	check, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := store.Check(check, rdb, cfg.AllowEviction, log); err != nil {
		return err
	}
	watch := settings.NewWatch(settings.New(rdb), registry, log)
	if err := watch.Look(check); err != nil {
		return err
	}
	group.Worker("settings", watch.Run)
	metrics := ops.NewRegistry()
	line := queue.New(rdb)
	group.Worker("admission", admission.NewWorker(line, registry.Queue, log, metrics).Run)
	group.Worker("history", history.NewRecorder(history.NewStore(rdb), line, registry.All, log).Run)
	reachable := func(ctx context.Context) error { return rdb.Ping(ctx).Err() }
	if _, err := group.ServeOps(ops.NewServer(metrics, reachable), cfg.OpsListen); err != nil {
		return err
	}
	log.Info("admitting", "rooms", len(registry.All()), "redis", store.Redact(cfg.RedisURL))
	if ready != nil {
		ready()
	}
	return group.Run()
}
