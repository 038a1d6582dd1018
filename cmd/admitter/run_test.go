package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/anteroom/anteroom/internal/config"
	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/internal/store"
	"github.com/anteroom/anteroom/queue"
)

func TestMain(m *testing.M) { redistest.Main(m) }

func nothing(string) string { return "" }

func roomsFile(t *testing.T, fields string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rooms.yaml")
	if err := os.WriteFile(file, []byte("rooms:\n  - {"+fields+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// start runs an admitter until the test ends or end is called.
func start(t *testing.T, args ...string) (end func()) {
	t.Helper()
	cfg, err := parse(append([]string{"--ops-listen=127.0.0.1:0"}, args...), nothing, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- run(ctx, cfg, io.Discard, func() { close(ready) })
		close(done)
	}()
	end = func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run returned %v", err)
		}
	}
	t.Cleanup(end)
	select {
	case <-ready:
	case err := <-done:
		t.Fatalf("run returned %v before it was ready", err)
	}
	return end
}

// Two of them at once let in everybody that fits and nobody more, and one goes on alone.
func TestRun_AdmittersLetInWhatFits(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	file := roomsFile(t, "name: a, capacity: 3, rate: 1000/s")
	registry, err := rooms.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	line, room := queue.New(server.Client(t)), registry.Queue()[0]
	full := room
	full.Rules.Capacity = 1 // the first gets in at once, the others wait until an admitter comes
	signer, err := queue.NewSigner(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	join := func(n int) {
		for range n {
			if _, err := line.Join(t.Context(), full, signer.DeriveID(room.Name, queue.NewSecret(), 0), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	join(6)
	args := []string{"--redis-url=" + server.URL(), "--rooms=" + file}
	end := start(t, args...)
	start(t, args...)
	await(t, line, room, 3, 3)
	end()
	if _, err := line.Reset(t.Context(), room, 1); err != nil {
		t.Fatal(err)
	}
	join(5)
	await(t, line, room, 3, 2)
}

// await polls the room's status, which nothing announces.
func await(t *testing.T, line *queue.Line, room queue.Room, active, waiting int64) {
	t.Helper()
	deadline := time.After(15 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		s, err := line.Status(t.Context(), room)
		if err != nil || s.Active > active {
			t.Fatalf("active has %d ids, %v; want at most %d", s.Active, err, active)
		}
		if s.Active == active && s.Waiting == waiting {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("active has %d ids and waiting %d, want %d and %d", s.Active, s.Waiting, active, waiting)
		case <-tick.C:
		}
	}
}

// Readiness turns while Redis is away and comes back with it, and the process lives on.
func TestRun_ReadinessFollowsRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	start(t, "--redis-url="+server.URL(), "--rooms="+roomsFile(t, "name: a, capacity: 1, rate: 1/s"), "--ops-listen="+address)
	becomes := func(want int) {
		t.Helper()
		deadline := time.After(20 * time.Second)
		tick := time.NewTicker(20 * time.Millisecond) // nothing tells of it
		defer tick.Stop()
		for got := 0; got != want; {
			answer, err := http.Get("http://" + address + "/readyz")
			if err == nil {
				got = answer.StatusCode
				_ = answer.Body.Close()
			}
			select {
			case <-deadline:
				t.Fatalf("/readyz is %d, %v; want %d", got, err, want)
			case <-tick.C:
			}
		}
	}
	becomes(http.StatusOK)
	server.Kill()
	becomes(http.StatusServiceUnavailable)
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	becomes(http.StatusOK)
	http.DefaultClient.CloseIdleConnections()
}

func TestRun_SaysWhyItCannotStart(t *testing.T) {
	t.Parallel()
	gone := config.Common{RedisURL: "unix:///nowhere/s", RoomsFile: roomsFile(t, "name: a, capacity: 1, rate: 1/s")}
	if err := run(t.Context(), gone, io.Discard, nil); err == nil || !strings.Contains(err.Error(), "/nowhere/s") {
		t.Errorf("without Redis: %v", err)
	}
	gone.RoomsFile = "/nowhere/rooms.yaml"
	if err := run(t.Context(), gone, io.Discard, nil); err == nil || !strings.Contains(err.Error(), "/nowhere/rooms.yaml") {
		t.Errorf("without a rooms file: %v", err)
	}
}

func TestRun_RefusesARedisThatEvicts(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--maxmemory-policy", "allkeys-lru")
	evicts := config.Common{RedisURL: server.URL(), RoomsFile: roomsFile(t, "name: a, capacity: 1, rate: 1/s")}
	if err := run(t.Context(), evicts, io.Discard, nil); !errors.Is(err, store.ErrEvicts) {
		t.Errorf("with a Redis that evicts: %v", err)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	bad := roomsFile(t, "name: a, capacity: 0, rate: 1/s")
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"nothing given": {nil, []string{"--redis-url is missing", "--rooms is missing"}},
		"all wrong":     {[]string{"--redis-url=h", "--rooms=" + bad, "--log-format=xml", "--ops-listen=1", "x"}, []string{"--redis-url: ", bad + ":2: ", "--log-format", "--ops-listen", `"x"`}},
		"unknown flag":  {[]string{"--listen=:1"}, []string{"--listen"}},
	} {
		_, err := parse(c.args, nothing, io.Discard)
		if !errors.Is(err, config.ErrUsage) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error does not say %q:\n%v", name, want, err)
			}
		}
	}
	var out strings.Builder
	if _, err := parse([]string{"--help"}, nothing, &out); !errors.Is(err, pflag.ErrHelp) {
		t.Errorf("--help: %v", err)
	}
	for _, want := range []string{"USAGE", "EXIT STATUS", "ANTEROOM_REDIS_URL", "SIGHUP", "--rooms", "--redis-url", "--ops-listen"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the help does not say %s", want)
		}
	}
}
