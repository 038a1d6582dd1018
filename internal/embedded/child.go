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
	"runtime"
	"strings"
	"sync"
	"time"
)

const (
	// startTimeout covers loading an append-only file of a full line.
	startTimeout = 30 * time.Second
	// stopTimeout is how long a child may take to close its append-only file.
	stopTimeout = 5 * time.Second
	// maxSocket is shorter than the longest path that a unix socket may have: 107 bytes
	// on Linux, 103 on BSD and macOS.
	maxSocket = 100
)

func startChild(ctx context.Context, path, kind, dir string, log *slog.Logger) (*Redis, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	held, err := lock(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	unlock := func() { _ = held.Close() }
	socket, cleanSocket, err := socketPath(dir)
	if err != nil {
		unlock()
		return nil, err
	}
	_ = os.Remove(socket) // of a child that was killed
	c := newChild(path, dir, socket, held)
	if err := c.start(); err != nil {
		cleanSocket()
		unlock()
		return nil, fmt.Errorf("embedded: start %s: %w", kind, err)
	}
	log.Debug("started", "program", kind, "pid", c.cmd.Process.Pid, "dir", dir)
	r := &Redis{
		URL: "unix://" + socket, Kind: kind, done: c.done,
		Note: "a private " + kind + " with an append-only file: a restart keeps the line",
		stop: func() {
			c.end()
			cleanSocket()
			unlock()
		},
	}
	if err := c.await(ctx, socket); err != nil {
		r.Close()
		return nil, fmt.Errorf("embedded: %s: %w: %s", kind, err, c.output)
	}
	return r, nil
}

// child is one run of a redis-server.
type child struct {
	cmd     *exec.Cmd
	output  *tail
	closing chan struct{} // closed when we end it
	exited  chan struct{} // closed when it has ended
	done    chan error    // has the reason when it ended by itself
}

func newChild(path, dir, socket string, held *os.File) *child {
	c := &child{
		cmd: exec.Command(path, "--port", "0", "--unixsocket", socket, "--unixsocketperm", "700", "--dir", dir,
			"--appendonly", "yes", "--appendfsync", "everysec", "--save", "", "--maxmemory-policy", "noeviction", "--loglevel", "warning"),
		output:  &tail{},
		closing: make(chan struct{}), exited: make(chan struct{}), done: make(chan error, 1),
	}
	c.cmd.SysProcAttr = childAttr()
	c.cmd.Stdout, c.cmd.Stderr = c.output, c.output
	c.cmd.WaitDelay = stopTimeout // a fork that rewrites the file may outlive it with the pipe open
	inherit(c.cmd, held)
	return c
}

// start runs the process and watches it. One goroutine owns it from start to end and
// keeps to one thread, because Linux sends the parent-death signal when the thread that
// started the child ends.
func (c *child) start() error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(c.exited)
		err := c.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		_ = c.cmd.Wait() // ProcessState says the same
		select {
		case <-c.closing:
		default:
			c.done <- fmt.Errorf("embedded: %s ended by itself (%v): %s", filepath.Base(c.cmd.Path), c.cmd.ProcessState, c.output)
		}
	}()
	return <-started
}

// end asks first, so that the append-only file is complete.
func (c *child) end() {
	close(c.closing)
	_ = c.cmd.Process.Signal(os.Interrupt)
	select {
	case <-c.exited:
	case <-time.After(stopTimeout):
		_ = c.cmd.Process.Kill()
		<-c.exited
	}
}

// await returns when the socket answers PING, which it does after loading. It dials by
// itself, because go-redis logs every dial that fails.
func (c *child) await(ctx context.Context, socket string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("it did not answer in time: %w", ctx.Err())
		case <-c.exited:
			return errors.New("it ended at once")
		case <-tick.C:
			if Answers(socket) {
				return nil
			}
		}
	}
}

// Answers reports whether a server answers PING on a unix socket, which it does not while
// it loads, or asks for a password. It dials by itself, because go-redis logs every dial
// that fails.
func Answers(socket string) bool {
	conn, err := net.DialTimeout("unix", socket, time.Second)
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
	return string(answer[:n]) == "+PONG\r\n" || string(answer[:n]) == "-NOAUTH"
}

// socketPath is in dir, or in a temporary folder where dir's path is too long.
func socketPath(dir string) (path string, clean func(), err error) {
	path = filepath.Join(dir, "redis.sock")
	if len(path) <= maxSocket {
		return path, func() { _ = os.Remove(path) }, nil
	}
	parent := ""
	if len(os.TempDir()) > maxSocket-40 {
		parent = "/tmp"
	}
	short, err := os.MkdirTemp(parent, "anteroom") // mode 0700
	if err != nil {
		return "", nil, fmt.Errorf("embedded: %w", err)
	}
	return filepath.Join(short, "redis.sock"), func() { _ = os.RemoveAll(short) }, nil
}

// tail keeps the end of a child's output for an error message.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2048 {
		t.buf = t.buf[len(t.buf)-2048:]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.buf))
}
