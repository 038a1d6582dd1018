package redistest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Server is a redis-server child on a unix socket in a folder of its own. Tests kill,
// pause and restart it.
type Server struct {
	dir  string
	args []string
	cmd  *exec.Cmd
}

// Start starts a server with extra redis-server arguments and ends it with the test.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	need(t)
	s, err := start(args...)
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	t.Cleanup(s.close)
	return s
}

// need skips without redis-server, except in CI, where a missing service is a failure.
func need(t testing.TB) {
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
	dir, err := os.MkdirTemp("", "redis")
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

// Socket is the path of the server's unix socket.
func (s *Server) Socket() string { return filepath.Join(s.dir, "s") }

// Client opens a client that the test owns; it is closed with the test.
func (s *Server) Client(t testing.TB) *redis.Client {
	t.Helper()
	rdb := redis.NewClient(s.options())
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

func (s *Server) options() *redis.Options {
	return &redis.Options{
		Network: "unix", Addr: s.Socket(), ContextTimeoutEnabled: true, MaxRetries: 1,
		DialTimeout: 200 * time.Millisecond, PoolSize: 64,
	}
}

// Kill ends the server at once, as a crash would, and waits until it is gone.
func (s *Server) Kill() {
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
	s.cmd = nil
}

// Pause stops the server's process; clients hang.
func (s *Server) Pause() error { return s.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume lets a paused server go on.
func (s *Server) Resume() error { return s.cmd.Process.Signal(syscall.SIGCONT) }

// Restart kills the server and starts it again in the same folder.
func (s *Server) Restart() error {
	s.Kill()
	return s.launch()
}

func (s *Server) close() {
	s.Kill()
	_ = os.RemoveAll(s.dir)
}

// launch returns when the socket answers and the data is loaded.
func (s *Server) launch() error {
	_ = os.Remove(s.Socket())
	args := append([]string{
		"--port", "0", "--unixsocket", s.Socket(), "--dir", s.dir,
		"--save", "", "--appendonly", "no", "--loglevel", "warning",
	}, s.args...)
	s.cmd = exec.Command("redis-server", args...)
	s.cmd.SysProcAttr = childAttr()
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("start redis-server: %w", err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for !s.ready() {
		if time.Now().After(deadline) {
			return fmt.Errorf("redis-server on %s did not answer within 10 s", s.Socket())
		}
		time.Sleep(5 * time.Millisecond) // there is no signal to wait for before the socket exists
	}
	return nil
}

func (s *Server) ready() bool {
	conn, err := net.DialTimeout("unix", s.Socket(), time.Second)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	answer := make([]byte, 7)
	n, _ := conn.Read(answer)
	return string(answer[:n]) == "+PONG\r\n"
}
