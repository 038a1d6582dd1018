// Command server is Anteroom's HTTP front: the visitor API, the queue page and the demo.
// Without settings it runs everything on embedded parts. See --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/anteroom/anteroom/internal/config"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	cfg, err := parse(os.Args[1:], os.Getenv, os.Stderr)
	if err == nil {
		err = run(ctx, cfg, os.Stdout, os.Stderr, nil)
	}
	stop()
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
	case errors.Is(err, config.ErrUsage):
		fmt.Fprintf(os.Stderr, "%v\nserver --help says more.\n", err)
		os.Exit(2)
	default:
		fmt.Fprintf(os.Stderr, "server: %v\n", err)
		os.Exit(1)
	}
}
