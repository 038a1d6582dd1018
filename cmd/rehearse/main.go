// Command rehearse plays a crowd against a running Anteroom over HTTP, as the queue page
// does, and checks what the crowd was told. See --help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/anteroom/anteroom/internal/rehearse"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	status := rehearse.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
