package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"
)

type settings struct {
	Waiting     int
	Connections int
	Seconds     float64
	Rounds      int
	Out         string // a Markdown file that has a section for the result; "" = none
	Profile     string // where the grouped server writes its CPU profile; "" = none
	Serve       bool   // be one of the servers
}

func main() {
	if err := measure(os.Args[1:]); err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "pollbench:", err)
		os.Exit(1)
	}
}

func measure(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cfg, err := parse(args)
	switch {
	case err != nil:
		return err
	case cfg.Serve:
		return serve(os.Stdin, os.Stdout)
	}
	return run(ctx, cfg, os.Stdout)
}

func parse(args []string) (settings, error) {
	var c settings
	f := pflag.NewFlagSet("pollbench", pflag.ContinueOnError)
	f.IntVar(&c.Waiting, "waiting", 100_000, "tickets in the line")
	f.IntVar(&c.Connections, "connections", 64, "keep-alive connections that poll")
	f.Float64Var(&c.Seconds, "seconds", 3, "measured time a server and round")
	f.IntVar(&c.Rounds, "rounds", 5, "rounds; medians are reported")
	f.StringVar(&c.Out, "out", "", "Markdown `file` whose section takes the result")
	f.StringVar(&c.Profile, "profile", "", "`file` for a CPU profile of the grouped server")
	f.BoolVar(&c.Serve, "serve", false, "be a server (used by the program itself)")
	_ = f.MarkHidden("serve")
	if err := f.Parse(args); err != nil {
		return c, err
	}
	if c.Waiting < 1 || c.Connections < 1 || c.Seconds <= 0 || c.Rounds < 1 {
		return c, errors.New("waiting, connections, seconds and rounds are above 0")
	}
	return c, nil
}

func run(ctx context.Context, cfg settings, out io.Writer) error {
	b, err := newBench(ctx, cfg)
	if err != nil {
		return err
	}
	defer b.close()
	rows := make([]row, len(b.servers))
	for i, s := range b.servers {
		rows[i].name = s.name
	}
	for round := range cfg.Rounds {
		for i := range rows {
			// The order turns, so that no server always follows the same one.
			n := (i + round) % len(rows)
			r, err := b.measure(ctx, b.servers[n])
			if err != nil {
				return fmt.Errorf("%s: %w", rows[n].name, err)
			}
			rows[n].rounds = append(rows[n].rounds, r)
		}
	}
	report := table(cfg, b.redisVersion, rows)
	_, _ = fmt.Fprint(out, report)
	if cfg.Out == "" {
		return nil
	}
	return writeSection(cfg.Out, report)
}

// warm is how long a server is loaded before it is measured: its connections are made,
// its scripts loaded, its caches filled again.
const warm = 300 * time.Millisecond

// measure loads one server for one round.
func (b *bench) measure(ctx context.Context, s *server) (round, error) {
	l, err := dial(s.address, b.cfg.Connections, b.tokens)
	if err != nil {
		return round{}, err
	}
	defer l.close()
	if _, err := l.run(ctx, warm); err != nil {
		return round{}, err
	}
	before, err := b.usage(ctx, s)
	if err != nil {
		return round{}, err
	}
	r, err := l.run(ctx, time.Duration(b.cfg.Seconds*float64(time.Second)))
	if err != nil {
		return round{}, err
	}
	after, err := b.usage(ctx, s)
	r.server, r.redis = after.server-before.server, after.redis-before.redis
	return r, err
}
