package load

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/pprof"
	"time"

	"github.com/go-chi/chi/v5"
)

// Serve is a server's whole life: it reads its order, serves what build makes of it on a
// port of its own, and answers for its CPU time until in ends.
func Serve(in io.Reader, out io.Writer, build func(order json.RawMessage, address string) (http.Handler, error)) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() {
		return io.ErrUnexpectedEOF
	}
	var s start
	if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	h, err := build(s.Order, listener.Addr().String())
	if err != nil {
		return err
	}
	finish, err := s.Profiles.begin()
	if err != nil {
		return err
	}
	defer finish()
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

// begin starts the profiles; the function that it returns writes them.
func (p Profiles) begin() (func(), error) {
	var finish []func()
	if p.CPU != "" {
		f, err := os.Create(p.CPU)
		if err != nil {
			return nil, err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, err
		}
		finish = append(finish, func() { pprof.StopCPUProfile(); _ = f.Close() })
	}
	if p.Allocs != "" {
		f, err := os.Create(p.Allocs)
		if err != nil {
			return nil, err
		}
		finish = append(finish, func() { _ = pprof.Lookup("allocs").WriteTo(f, 0); _ = f.Close() })
	}
	return func() {
		for _, f := range finish {
			f()
		}
	}, nil
}

// Answer is an answer that Plain repeats.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Plain is the least that a chi service can do to give an answer.
func Plain(pattern string, a Answer) http.Handler {
	r := chi.NewRouter()
	r.Get(pattern, func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		for name, values := range a.Header {
			h[name] = values
		}
		w.WriteHeader(a.Status)
		if len(a.Body) > 0 {
			_, _ = w.Write(a.Body)
		}
	})
	return r
}
