package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

func nothing(string) string { return "" }

// lines is what a program says; it may be read while the program writes.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
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

// program is run with a free port, beside the test.
type program struct {
	t    *testing.T
	url  *url.URL
	said *lines
	stop context.CancelFunc
	done chan error
}

// start runs the server as its flags say and returns when it takes connections. The test's
// end stops it.
func start(t *testing.T, args ...string) *program {
	t.Helper()
	cfg, err := parse(append([]string{"--listen=127.0.0.1:0", "--ops-listen=", "--log-level=debug"}, args...), nothing, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &program{t: t, said: &lines{}, stop: cancel, done: make(chan error, 1)}
	ready := make(chan *url.URL, 1)
	go func() {
		p.done <- run(ctx, cfg, p.said, p.said, func(public *url.URL) { ready <- public })
		close(p.done)
	}()
	t.Cleanup(p.end)
	select {
	case p.url = <-ready:
	case err := <-p.done:
		t.Fatalf("run returned %v before it was ready: %s", err, p.said)
	case <-time.After(30 * time.Second):
		t.Fatalf("run is not ready: %s", p.said)
	}
	return p
}

// end stops the server and waits for it. A second call does nothing.
func (p *program) end() {
	p.stop()
	select {
	case err := <-p.done:
		if err != nil {
			p.t.Errorf("run returned %v: %s", err, p.said)
		}
	case <-time.After(30 * time.Second):
		p.t.Errorf("run does not end: %s", p.said)
	}
}

// browser keeps cookies and follows no redirect.
type browser struct {
	*http.Client
	p *program
}

func (p *program) browser() browser {
	p.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	transport := &http.Transport{}
	p.t.Cleanup(transport.CloseIdleConnections)
	return browser{&http.Client{Transport: transport, Jar: jar, Timeout: 20 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}, p}
}

// answer is a response that was read.
type answer struct {
	status int
	header http.Header
	body   string
}

// json is the body's object.
func (a answer) json(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("the body %q is no JSON object: %v", a.body, err)
	}
	return v
}

// do asks as a page load does, and as a form does when there is a body.
func (b browser) do(method, path, body string, header ...string) answer {
	b.p.t.Helper()
	r, err := http.NewRequestWithContext(b.p.t.Context(), method, b.p.url.String()+path, strings.NewReader(body))
	if err != nil {
		b.p.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Sec-Fetch-Mode", "navigate")
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	got, err := b.Do(r)
	if err != nil {
		b.p.t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		b.p.t.Fatal(err)
	}
	return answer{got.StatusCode, got.Header, string(text)}
}

// api asks as a script does.
func (b browser) api(method, path, body string, header ...string) answer {
	b.p.t.Helper()
	return b.do(method, path, body, append([]string{"Accept", "application/json", "Sec-Fetch-Mode", "cors", "Content-Type", "application/json"}, header...)...)
}

func (a answer) want(t *testing.T, what string, status int) answer {
	t.Helper()
	if a.status != status {
		t.Fatalf("%s: answered %d %s, want %d", what, a.status, a.body, status)
	}
	return a
}

// roomsFile writes a rooms file with one room.
func roomsFile(t *testing.T, fields string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rooms.yaml")
	if err := os.WriteFile(file, []byte("rooms:\n  - {"+fields+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
