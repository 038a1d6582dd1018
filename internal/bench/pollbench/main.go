package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/anteroom/anteroom/internal/bench/load"
)

type settings struct {
	Waiting int
	Load    load.Settings
	Out     string // a Markdown file that has a section for the result; "" = none
	Profile string // where the grouped server writes its CPU profile; "" = none
	Serve   bool   // be one of the servers
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
		return load.Serve(os.Stdin, os.Stdout, handler)
	}
	return run(ctx, cfg, os.Stdout)
}

func parse(args []string) (settings, error) {
	var c settings
	f := pflag.NewFlagSet("pollbench", pflag.ContinueOnError)
	f.IntVar(&c.Waiting, "waiting", 100_000, "tickets in the line")
	f.IntVar(&c.Load.Connections, "connections", 64, "keep-alive connections that poll")
	f.Float64Var(&c.Load.Seconds, "seconds", 3, "measured time a server and round")
	f.IntVar(&c.Load.Rounds, "rounds", 5, "rounds; medians are reported")
	f.StringVar(&c.Out, "out", "", "Markdown `file` whose section takes the result")
	f.StringVar(&c.Profile, "profile", "", "`file` for a CPU profile of the server with a memory")
	f.BoolVar(&c.Serve, "serve", false, "be a server (used by the program itself)")
	_ = f.MarkHidden("serve")
	if err := f.Parse(args); err != nil {
		return c, err
	}
	if c.Waiting < 1 {
		return c, errors.New("waiting is above 0")
	}
	return c, c.Load.Check()
}

func run(ctx context.Context, cfg settings, out io.Writer) error {
	b, err := newBench(ctx, cfg)
	if err != nil {
		return err
	}
	defer b.close()
	rows, err := load.Compare(ctx, cfg.Load, b.redis, b.subjects)
	if err != nil {
		return err
	}
	report := table(cfg, b.redis.Version, rows)
	_, _ = fmt.Fprint(out, report)
	if cfg.Out == "" {
		return nil
	}
	return section.Write(cfg.Out, report)
}
