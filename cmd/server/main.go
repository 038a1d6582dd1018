// Command server is Anteroom's HTTP front: the visitor API, the queue page and the demo.
// Without settings it runs everything on embedded parts. See --help.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/anteroom/anteroom/internal/config"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "explain" {
		os.Exit(config.ExitCode("server explain", explain(os.Args[2:], os.Getenv, os.Stdout), os.Stderr))
	}
	if os.Getenv("GOGC") == "" {
		// What a server holds is small and what it throws away is much: a poll is answered
		// a fifth cheaper when memory is swept less often.
		debug.SetGCPercent(400)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	cfg, err := parse(os.Args[1:], os.Getenv, os.Stdout)
	if err == nil {
		err = run(ctx, cfg, os.Stdout, os.Stderr, nil)
	}
	stop()
	os.Exit(config.ExitCode("server", err, os.Stderr))
}
