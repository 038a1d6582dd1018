package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime/pprof"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anteroom/anteroom/internal/store"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
	"github.com/anteroom/anteroom/web"
)

// order is what a server is told to be, as the first line of its standard input. Each
// further line asks for the CPU time that it has used; the end of input ends it.
type order struct {
	Kind    string // plain, alone, grouped
	Redis   string // URL, unless plain
	Answer  answer // of plain
	Profile string // file, "" = none
}

// answer is an answer that plain repeats.
type answer struct {
	Header http.Header
	Body   []byte
}

// hello is a server's first line of output.
type hello struct{ Address string }

// spent answers each further line.
type spent struct{ CPU time.Duration }

const storeTimeout = 400 * time.Millisecond

func serve(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() {
		return io.ErrUnexpectedEOF
	}
	var o order
	if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
		return err
	}
	if o.Profile != "" {
		f, err := os.Create(o.Profile)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	h, err := o.handler(listener.Addr().String())
	if err != nil {
		return err
	}
	// The limits are those of cmd/server: deadlines cost something a request.
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: 90 * time.Second, MaxHeaderBytes: 16 << 10,
	}
	go func() { _ = server.Serve(listener) }()
	defer func() { _ = server.Close() }()
	answers := json.NewEncoder(out)
	err = answers.Encode(hello{Address: listener.Addr().String()})
	for err == nil && lines.Scan() {
		err = answers.Encode(spent{CPU: cpuTime()})
	}
	return err
}

func (o order) handler(address string) (http.Handler, error) {
	switch o.Kind {
	case "plain":
		return plain(o.Answer), nil
	case "alone", "grouped":
		return o.front(address)
	default:
		return nil, fmt.Errorf("no server is called %q", o.Kind)
	}
}

// plain is the least that a chi service can do to give this answer.
func plain(a answer) http.Handler {
	r := chi.NewRouter()
	r.Get("/v1/rooms/{room}/ticket", func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		for name, values := range a.Header {
			h[name] = values
		}
		_, _ = w.Write(a.Body)
	})
	return r
}

// front is the public front of cmd/server.
func (o order) front(address string) (http.Handler, error) {
	rdb, err := store.Open(o.Redis) // closed by the end of the process
	if err != nil {
		return nil, err
	}
	registry, err := openRooms()
	if err != nil {
		return nil, err
	}
	tickets, err := newTickets()
	if err != nil {
		return nil, err
	}
	key, err := pass.GenerateKey()
	if err != nil {
		return nil, err
	}
	passes, err := pass.NewSigner("http://"+address, key)
	if err != nil {
		return nil, err
	}
	line, log := queue.New(rdb), slog.New(slog.DiscardHandler)
	watch := queue.NewWatch(line, registry.Queue, log)
	go func() { _ = watch.Run(context.Background()) }()
	polls := web.Poller(queue.NewGroup(line, storeTimeout))
	if o.Kind == "alone" {
		polls = alone{line}
	}
	return web.New(web.Config{
		Line: line, Polls: polls, Statuses: watch, Rooms: registry, Tickets: tickets, Passes: passes,
		PublicURL: &url.URL{Scheme: "http", Host: address}, Log: log, Metrics: prometheus.NewRegistry(),
		Ready: func(ctx context.Context) error { return rdb.Ping(ctx).Err() }, StoreTimeout: storeTimeout,
	}).Handler(), nil
}

// alone sends each poll by itself, as a handler without queue.Group would.
type alone struct{ line *queue.Line }

func (a alone) Poll(ctx context.Context, room queue.Room, t queue.Ticket) (queue.Standing, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	out, err := a.line.Poll(ctx, room, []queue.Ticket{t})
	if err != nil {
		return queue.Standing{}, err
	}
	return out[0], nil
}
