package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/embedded"
	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/internal/store"
)

// await polls a condition that nothing announces.
func await(t *testing.T, what string, reached func() bool) {
	t.Helper()
	deadline := time.After(15 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !reached() {
		select {
		case <-deadline:
			t.Fatalf("not reached: %s", what)
		case <-tick.C:
		}
	}
}

// Keys and line are in the data folder: a restart changes nobody's place.
func TestRestart_KeepsEveryPlace(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	args := []string{"--rooms", roomsFile(t, "name: slow, capacity: 9, rate: 1/h"), "--data-dir", t.TempDir()}
	const path = "/v1/rooms/slow/ticket"
	p := start(t, args...)
	p.browser().api("POST", path, "").want(t, "the join of the one who gets in", 201)
	var tickets []string
	for i := range 3 {
		at := p.browser().api("POST", path, "").want(t, "a join", 201).json(t)
		if at["state"] != "waiting" || at["position"] != float64(i+1) {
			t.Fatalf("ticket %d stands at %v", i+1, at)
		}
		tickets = append(tickets, at["ticket"].(string))
	}
	p.end()
	p = start(t, args...)
	for i := len(tickets) - 1; i >= 0; i-- { // whoever asks first after the restart must not be first for it
		at := p.browser().api("GET", path, "", "Authorization", "Bearer "+tickets[i]).want(t, "a poll after the restart", 200).json(t)
		if at["state"] != "waiting" || at["position"] != float64(i+1) {
			t.Errorf("after the restart ticket %d stands at %v", i+1, at)
		}
	}
	if at := p.browser().api("POST", path, "").want(t, "a join after the restart", 201).json(t); at["position"] != 4.0 {
		t.Errorf("who joins after the restart stands at %v, want the end of the line", at)
	}
}

// A join whose body is still on its way when the server is told to stop gets its place.
func TestStop_DrainsTheRequestInFlight(t *testing.T) {
	t.Parallel()
	p := start(t, "--data-dir", t.TempDir())
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.url.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	const body = `{"target":"/"}`
	_, _ = fmt.Fprintf(conn, "POST /v1/rooms/demo/ticket HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", p.url.Host, len(body))
	in := bufio.NewReader(conn)
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") { // its handler reads the body now
		t.Fatalf("the server says %q, %v", line, err)
	}
	_, _ = in.ReadString('\n')
	p.stop()
	await(t, "no new connection is taken", func() bool {
		c, err := net.Dial("tcp", p.url.Host)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	_, _ = io.WriteString(conn, body)
	got, err := http.ReadResponse(in, nil)
	if err != nil || got.StatusCode != http.StatusCreated {
		t.Errorf("the request in flight was answered %v, %v", got, err)
	}
	p.end()
}

// runOnce runs until it fails, which it must.
func runOnce(t *testing.T, args ...string) (said string, err error) {
	t.Helper()
	cfg, err := parse(append([]string{"--listen=127.0.0.1:0", "--ops-listen=", "--data-dir=" + t.TempDir()}, args...), nothing, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	out := &lines{}
	if err = run(ctx, cfg, out, out, nil); err == nil {
		t.Fatalf("run ended without an error: %s", out)
	}
	return out.String(), err
}

func TestRun_SaysWhyItCannotStart(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = busy.Close() }) // after the subtests, which run in parallel
	address := busy.Addr().String()
	for name, c := range map[string]struct{ args, want []string }{
		"port is taken":     {[]string{"--listen=" + address}, []string{address}},
		"ops port is taken": {[]string{"--ops-listen=" + address}, []string{address, "--ops-listen"}},
		"no such key":       {[]string{"--signing-key-file=/nowhere/k.pem"}, []string{"/nowhere/k.pem"}},
		"redis is away":     {[]string{"--redis-url=unix:///nowhere/s", "--rooms=" + roomsFile(t, "name: a, capacity: 1, rate: 1/s")}, []string{"/nowhere/s"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said, err := runOnce(t, c.args...)
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error does not say %q: %v", want, err)
				}
			}
			if strings.Contains(said, "Anteroom is up") {
				t.Errorf("it greeted before it failed: %s", said)
			}
		})
	}
}

func TestRun_RefusesARedisThatEvicts(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--maxmemory-policy", "allkeys-lru")
	args := []string{"--redis-url=" + server.URL(), "--rooms=" + roomsFile(t, "name: a, capacity: 1, rate: 1/s")}
	if _, err := runOnce(t, args...); !errors.Is(err, store.ErrEvicts) || !strings.Contains(err.Error(), "--allow-eviction") {
		t.Errorf("error is %v", err)
	}
	start(t, append(args, "--allow-eviction", "--data-dir="+t.TempDir())...).browser().do("GET", "/readyz", "").want(t, "readyz", 200)
}

// Two servers on one data folder would tear its files apart.
func TestRun_RefusesADataFolderInUse(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	dir := t.TempDir()
	held, err := embedded.Start(t.Context(), filepath.Join(dir, "redis"), (&settings{}).Logger(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := runOnce(t, "--data-dir="+dir); !errors.Is(err, embedded.ErrInUse) {
		t.Errorf("error is %v", err)
	}
}

// Redis goes and comes back: the server says so and needs no restart.
func TestReadyz_FollowsRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	b := start(t, "--redis-url="+server.URL(), "--rooms="+roomsFile(t, "name: a, capacity: 1, rate: 1/s"), "--data-dir="+t.TempDir()).browser()
	b.do("GET", "/readyz", "").want(t, "readyz", 200)
	server.Kill()
	b.do("GET", "/readyz", "").want(t, "readyz without Redis", 503)
	b.do("GET", "/healthz", "").want(t, "healthz without Redis", 200)
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	await(t, "readyz is 200 again", func() bool { return b.do("GET", "/readyz", "").status == 200 })
}
