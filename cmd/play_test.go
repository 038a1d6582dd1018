package cmd_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is one run of a binary.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	said *lines
	done chan struct{} // closed when it was waited for
}

// lines is what a process says; it may be read while the process writes.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// play starts a binary; the test's end kills it if it still runs.
func play(t *testing.T, program string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(filepath.Join(bin, program), args...), said: &lines{}, done: make(chan struct{})} //nolint:noctx // ended below
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.Dir = p.said, p.said, t.TempDir()
	for _, v := range os.Environ() { // what the developer's shell sets for a server of theirs is not for ours
		if !strings.HasPrefix(v, "ANTEROOM_") {
			p.cmd.Env = append(p.cmd.Env, v)
		}
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait()
	}()
	t.Cleanup(p.kill)
	return p
}

// serve starts a server on free ports and returns its address too.
func serve(t *testing.T, args ...string) (*process, string) {
	t.Helper()
	p := play(t, "server", append([]string{"--listen=127.0.0.1:0", "--ops-listen="}, args...)...)
	return p, p.await(`queue page  (http://\S+)/r/`)
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// end asks the process to stop, which it must do well.
func (p *process) end() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	p.wait(15 * time.Second)
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		p.t.Errorf("it exited with %d: %s", code, p.said)
	}
}

func (p *process) wait(most time.Duration) {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(most):
		p.t.Fatalf("%s does not end: %s", p.cmd.Path, p.said)
	}
}

// await returns when the process has said something, and its first group.
func (p *process) await(pattern string) string {
	p.t.Helper()
	said := regexp.MustCompile(pattern)
	var found []string
	await(p.t, pattern, func() bool {
		select {
		case <-p.done:
			p.t.Fatalf("it ended before it said %q: %s", pattern, p.said)
		default:
		}
		found = said.FindStringSubmatch(p.said.String())
		return found != nil
	})
	return found[len(found)-1]
}

// await polls a condition that nothing announces.
func await(t *testing.T, what string, reached func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !reached() {
		select {
		case <-deadline:
			t.Fatalf("not reached: %s", what)
		case <-tick.C:
		}
	}
}

// call asks as a client without cookies does, and returns the status and the JSON.
func call(t *testing.T, method, url, ticket string) (int, map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	if ticket != "" {
		r.Header.Set("Authorization", "Bearer "+ticket)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
	got, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if strings.Contains(got.Header.Get("Content-Type"), "json") {
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatalf("%s %s answered %q: %v", method, url, text, err)
		}
	}
	return got.StatusCode, v
}

func join(t *testing.T, room string) (ticket string, standing map[string]any) {
	t.Helper()
	status, v := call(t, http.MethodPost, room+"/ticket", "")
	if status != http.StatusCreated {
		t.Fatalf("a join answered %d %v", status, v)
	}
	return v["ticket"].(string), v
}

// write puts rooms into a file.
func write(t *testing.T, file, rooms string) {
	t.Helper()
	if err := os.WriteFile(file, []byte("rooms:\n"+rooms), 0o600); err != nil {
		t.Fatal(err)
	}
}

func roomsFile(t *testing.T, rooms string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rooms.yaml")
	write(t, file, rooms)
	return file
}
