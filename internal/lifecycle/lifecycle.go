// Package lifecycle runs the long parts of a program as one group: the first to stop
// stops all of them.
package lifecycle

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/oklog/run"
)

// drain is how long requests in flight may take to end after a stop was asked for.
const drain = 10 * time.Second

// Group is a group of parts, in the order in which they were added.
type Group struct {
	g   run.Group
	log *slog.Logger
}

// New is an empty group that also ends when ctx does.
func New(ctx context.Context, log *slog.Logger) *Group {
	group := &Group{log: log}
	stopped := make(chan struct{})
	group.g.Add(func() error {
		select {
		case <-ctx.Done():
		case <-stopped:
		}
		return nil
	}, func(error) { close(stopped) })
	return group
}

// Worker adds a part that runs until its context ends.
func (l *Group) Worker(name string, work func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	l.g.Add(func() error {
		err := work(ctx)
		if err != nil {
			l.log.Error("stopped", "part", name, "error", err)
		}
		return err
	}, func(error) { cancel() })
}

// Serve adds an HTTP server that drains when the group stops.
func (l *Group) Serve(name string, server *http.Server, listener net.Listener) {
	l.g.Add(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			l.log.Error("stopped", "part", name, "error", err)
			return err
		}
		return nil
	}, func(error) {
		ctx, cancel := context.WithTimeout(context.Background(), drain)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			l.log.Warn("requests were cut off", "part", name, "error", err)
			_ = server.Close()
		}
	})
}

// OnHangup calls reload for each SIGHUP. A failure is logged and changes nothing.
func (l *Group) OnHangup(reload func() error) {
	l.Worker("reload", func(ctx context.Context) error {
		hup := make(chan os.Signal, 1)
		signal.Notify(hup, syscall.SIGHUP)
		defer signal.Stop(hup)
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-hup:
				if err := reload(); err != nil {
					l.log.Error("the rooms file was not taken; the old rooms stay in force", "error", err)
				} else {
					l.log.Info("rooms file read")
				}
			}
		}
	})
}

// Run returns when every part has ended, with the first error.
func (l *Group) Run() error { return l.g.Run() }
