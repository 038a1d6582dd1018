package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// Redis is a Redis of this process.
type Redis struct {
	// URL is what store.Open takes.
	URL string
	// Kind is redis-server, valkey-server or miniredis.
	Kind string
	// Note is a sentence for the log: what this Redis is good for.
	Note string

	done chan error
	stop func()
	once sync.Once
}

// ErrInUse means that another process runs on the same data folder.
var ErrInUse = errors.New("embedded: the data folder is in use by another process")

// startTimeout covers loading an append-only file of a full line.
const startTimeout = 30 * time.Second

// maxSocket is the longest path that a unix socket may have on Linux.
const maxSocket = 100

// Start runs a redis-server or valkey-server from PATH on dir, or else a miniredis.
// Close ends it.
func Start(ctx context.Context, dir string, log *slog.Logger) (*Redis, error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return startChild(ctx, path, name, dir, log)
		}
	}
	return startMini(ctx)
}

// Done yields once if the child ended by itself.
func (r *Redis) Done() <-chan error { return r.done }

// Close ends the Redis and waits for it. A second call does nothing.
func (r *Redis) Close() { r.once.Do(r.stop) }

func startChild(ctx context.Context, path, kind, dir string, log *slog.Logger) (*Redis, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	unlock, err := lock(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	socket, cleanSocket, err := socketPath(dir)
	if err != nil {
		unlock()
		return nil, err
	}
	_ = os.Remove(socket)
	cmd := exec.Command(path, "--port", "0", "--unixsocket", socket, "--unixsocketperm", "700", "--dir", dir,
		"--appendonly", "yes", "--appendfsync", "everysec", "--save", "", "--maxmemory-policy", "noeviction", "--loglevel", "warning")
	cmd.SysProcAttr = childAttr()
	output := &lastLines{}
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		unlock()
		return nil, fmt.Errorf("embedded: start %s: %w", kind, err)
	}
	log.Debug("started", "program", kind, "pid", cmd.Process.Pid, "dir", dir)

	exited := make(chan struct{})
	r := &Redis{
		URL: "unix://" + socket, Kind: kind, done: make(chan error, 1),
		Note: "a private " + kind + " with an append-only file: a restart keeps the line",
	}
	closing := make(chan struct{})
	go func() {
		err := cmd.Wait()
		select {
		case <-closing:
		default:
			r.done <- fmt.Errorf("embedded: %s ended: %w: %s", kind, err, output)
		}
		close(exited)
	}()
	r.stop = func() {
		close(closing)
		endChild(cmd, exited)
		cleanSocket()
		unlock()
	}
	if err := awaitRedis(ctx, socket, exited); err != nil {
		r.Close()
		return nil, fmt.Errorf("%w: %s", err, output)
	}
	return r, nil
}

// endChild asks first, so that the append-only file is complete.
func endChild(cmd *exec.Cmd, exited <-chan struct{}) {
	_ = cmd.Process.Signal(os.Interrupt)
	select {
	case <-exited:
	case <-time.After(5 * time.Second):
		_ = cmd.Process.Kill()
		<-exited
	}
}

// socketPath is in dir, or in a temporary folder where dir's path is too long.
func socketPath(dir string) (path string, clean func(), err error) {
	path = filepath.Join(dir, "redis.sock")
	if len(path) <= maxSocket {
		return path, func() { _ = os.Remove(path) }, nil
	}
	short, err := os.MkdirTemp("", "anteroom")
	if err != nil {
		return "", nil, fmt.Errorf("embedded: %w", err)
	}
	return filepath.Join(short, "redis.sock"), func() { _ = os.RemoveAll(short) }, nil
}

// awaitRedis returns when the socket answers PING, which it does after loading.
func awaitRedis(ctx context.Context, socket string, exited <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("embedded: redis did not answer: %w", ctx.Err())
		case <-exited:
			return errors.New("embedded: redis ended at once")
		case <-tick.C:
			if pings(socket) {
				return nil
			}
		}
	}
}

func pings(socket string) bool {
	conn, err := net.Dial("unix", socket)
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

// startMini runs miniredis and moves the clock of its TTLs, which stands still by itself.
func startMini(ctx context.Context) (*Redis, error) {
	mini := miniredis.NewMiniRedis()
	if err := mini.Start(); err != nil {
		return nil, fmt.Errorf("embedded: miniredis: %w", err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				mini.FastForward(time.Second)
			}
		}
	}()
	return &Redis{
		URL: "redis://" + mini.Addr(), Kind: "miniredis", done: make(chan error, 1),
		Note: "no redis-server on PATH, so the line is kept in memory by miniredis: good for about a thousand waiting, and gone after a restart",
		stop: func() {
			cancel()
			<-stopped
			mini.Close()
		},
	}, nil
}

// lastLines keeps the end of a child's output for an error message.
type lastLines struct {
	mu  sync.Mutex
	buf []byte
}

func (l *lastLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, p...)
	if len(l.buf) > 2048 {
		l.buf = l.buf[len(l.buf)-2048:]
	}
	return len(p), nil
}

func (l *lastLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(string(l.buf))
}
