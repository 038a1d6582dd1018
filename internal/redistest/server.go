package redistest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrDown means that the server was asked for something while it does not run.
var ErrDown = errors.New("redistest: the server does not run")

// Server is a redis-server child on a unix socket in a folder of its own. Tests kill,
// pause and restart it. Its methods may be called from any goroutine.
type Server struct {
	dir  string
	args []string

	mu    sync.Mutex
	child *child // nil while the server is down
}

// Start starts a server for this test alone and ends it with the test. Extra arguments
// are redis-server's and win over the defaults, which are: no TCP port, no snapshot, no
// append-only file. What a Restart shall find again needs AOF:
//
//	redistest.Start(t, redistest.AOF()...)
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	Need(t)
	s, err := start(args...)
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	t.Cleanup(s.close)
	return s
}

// AOF are the arguments of a server that has on disk whatever it acknowledged.
func AOF() []string { return []string{"--appendonly", "yes", "--appendfsync", "always"} }

// Need skips the test when there is no redis-server, or fails it in CI (CI=true), where a
// missing service is a failure.
func Need(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err == nil {
		return
	}
	const how = "needs redis-server on PATH (apt-get install redis-server)"
	if os.Getenv("CI") == "true" {
		t.Fatal(how)
	}
	t.Skip(how)
}

func start(args ...string) (*Server, error) {
	dir, err := os.MkdirTemp(shortTempDir(), "redis")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, args: args}
	if err := s.launch(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// shortTempDir is the usual folder unless a socket in it would pass the limit of about
// 104 bytes that systems set to a socket's path.
func shortTempDir() string {
	if len(os.TempDir()) > 80 {
		return "/tmp"
	}
	return ""
}

// Socket is the path of the server's unix socket. It stays the same across restarts.
func (s *Server) Socket() string { return filepath.Join(s.dir, "s") }

// URL is the server's address for programs that take one.
func (s *Server) URL() string { return "unix://" + s.Socket() }

// Options are those of a client for this server, for tests that want their own timeouts.
func (s *Server) Options() *redis.Options {
	return &redis.Options{
		Network: "unix", Addr: s.Socket(), ContextTimeoutEnabled: true, MaxRetries: 1,
		DialTimeout: 200 * time.Millisecond, PoolSize: 64,
	}
}

// Client opens a client that is closed with the test.
func (s *Server) Client(t testing.TB) *redis.Client {
	t.Helper()
	rdb := redis.NewClient(s.Options())
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// Kill ends the server at once (SIGKILL), as a crash would, and waits until it is gone.
// A second call does nothing.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kill()
}

func (s *Server) kill() {
	if s.child != nil {
		s.child.kill()
		s.child = nil
	}
}

// Pause stops the server's process (SIGSTOP): clients connect and hang.
func (s *Server) Pause() error { return s.signal(pause) }

// Resume lets a paused server go on.
func (s *Server) Resume() error { return s.signal(resume) }

func (s *Server) signal(send func(*os.Process) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.child == nil {
		return ErrDown
	}
	return send(s.child.cmd.Process)
}

// Restart kills the server and starts it again on the same socket and folder. Without
// AOF it comes back empty.
func (s *Server) Restart() error {
	s.Kill()
	return s.launch()
}

func (s *Server) launch() error {
	args := append([]string{
		"--port", "0", "--unixsocket", s.Socket(), "--dir", s.dir,
		"--save", "", "--appendonly", "no", "--loglevel", "warning",
	}, s.args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kill()
	c, err := spawn(s.dir, s.Socket(), args)
	s.child = c
	return err
}

func (s *Server) close() {
	s.Kill()
	_ = os.RemoveAll(s.dir)
}
