// Command admitter lets people in: it runs the admission worker of every room. See --help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/anteroom/anteroom/internal/config"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	cfg, err := parse(os.Args[1:], os.Getenv, os.Stdout)
	if err == nil {
		err = run(ctx, cfg, os.Stderr, nil)
	}
	stop()
	os.Exit(config.ExitCode("admitter", err, os.Stderr))
}
