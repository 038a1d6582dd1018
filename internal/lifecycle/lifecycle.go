// Package lifecycle runs the long parts of a program as one group: the first to stop
// stops all of them.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/oklog/run"
)

// drain is how long requests in flight may take to end after a stop was asked for.
const drain = 10 * time.Second

// Group is a group of parts, in the order in which they were added.
type Group struct {
	g      run.Group
	log    *slog.Logger
	drain  time.Duration
	drains sync.WaitGroup // servers that are draining
}

// New is an empty group that also ends when ctx does.
func New(ctx context.Context, log *slog.Logger) *Group {
	group := &Group{log: log, drain: drain}
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

// Serve adds an HTTP server that drains when the group stops. All servers of a group drain
// at the same time, so that a long profile on one does not keep another open to visitors.
func (l *Group) Serve(name string, server *http.Server, listener net.Listener) {
	l.g.Add(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			l.log.Error("stopped", "part", name, "error", err)
			return err
		}
		return nil
	}, func(error) {
		l.drains.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), l.drain)
			defer cancel()
			if err := server.Shutdown(ctx); err != nil {
				l.log.Warn("requests were cut off", "part", name, "error", err)
				_ = server.Close()
			}
		})
	})
}

// ServeOps adds a server on the private address and returns where it listens; "" = none.
func (l *Group) ServeOps(server *http.Server, address string) (string, error) {
	if address == "" {
		return "", nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return "", fmt.Errorf("%w (another --ops-listen, or an empty one, mends this)", err)
	}
	l.Serve("ops", server, listener)
	return listener.Addr().String(), nil
}

// OnHangup calls act for each SIGHUP, one at a time. It listens from now on, because
// SIGHUP ends a process that does not; a signal that comes before Run is acted on by Run.
func (l *Group) OnHangup(act func()) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	l.Worker("hangup", func(ctx context.Context) error {
		defer signal.Stop(hup)
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-hup:
				act()
			}
		}
	})
}

// Run returns when every part has ended and every server has drained, with the first error.
func (l *Group) Run() error {
	err := l.g.Run()
	l.drains.Wait()
	return err
}
