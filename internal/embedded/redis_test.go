package embedded_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/embedded"
	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/internal/store"
)

// crashDir names the data folder of a copy of this test that stands in for a server
// which is killed.
const crashDir = "ANTEROOM_TEST_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		runUntilKilled(dir)
		return
	}
	redistest.Main(m)
}

func runUntilKilled(dir string) {
	r, err := embedded.Start(context.Background(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("up", r.URL)
	_, _ = io.Copy(io.Discard, os.Stdin) // ends when the test does
	r.Close()
}

func start(t *testing.T, dir string) *embedded.Redis {
	t.Helper()
	redistest.Need(t)
	r, err := embedded.Start(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func open(t *testing.T, url string) redis.UniversalClient {
	t.Helper()
	rdb, err := store.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

func put(t *testing.T, url string) {
	t.Helper()
	if err := open(t, url).Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
}

func wantKept(t *testing.T, url string) {
	t.Helper()
	if v, err := open(t, url).Get(t.Context(), "k").Result(); v != "v" {
		t.Errorf("after the restart the key is %q, %v, want v", v, err)
	}
}

func TestStart_KeepsTheDataAndTheFolderForItself(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	first := start(t, dir)
	if err := store.CheckEviction(t.Context(), open(t, first.URL)); err != nil {
		t.Error(err)
	}
	if _, err := embedded.Start(t.Context(), dir, slog.New(slog.DiscardHandler)); !errors.Is(err, embedded.ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second start on the same folder says %v", err)
	}
	put(t, first.URL)
	first.Close()
	first.Close()
	select {
	case err := <-first.Done():
		t.Errorf("Done after Close yields %v", err)
	default:
	}
	wantKept(t, start(t, dir).URL)
}

func TestStart_RightAfterTheServerWasKilled(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	dir := t.TempDir()
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), crashDir+"="+dir)
	stdin, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	stdout, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	url, up := strings.CutPrefix(strings.TrimSpace(line), "up ")
	if !up {
		t.Fatalf("the server says %q, %v", line, err)
	}
	put(t, url)
	orphan := processID(t, open(t, url))
	t.Cleanup(func() { // where no parent-death signal exists
		if p, err := os.FindProcess(orphan); err == nil {
			_ = p.Kill()
		}
	})
	_ = server.Process.Kill()
	_ = server.Wait()
	again, err := embedded.Start(t.Context(), dir, slog.New(slog.DiscardHandler))
	if errors.Is(err, embedded.ErrInUse) && runtime.GOOS != "linux" {
		return // the orphan still has the folder, and two on one file would be worse
	}
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	wantKept(t, again.URL)
	if n := processID(t, open(t, again.URL)); n == orphan {
		t.Error("the new server talks to the old child")
	}
}

func processID(t *testing.T, rdb redis.UniversalClient) int {
	t.Helper()
	for line := range strings.Lines(rdb.Info(t.Context(), "server").Val()) {
		if v, ok := strings.CutPrefix(line, "process_id:"); ok {
			n, err := strconv.Atoi(strings.TrimSpace(v))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("INFO has no process_id")
	return 0
}

func TestDone_TellsOfAChildThatEndedByItself(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := start(t, dir)
	put(t, r.URL)
	p, err := os.FindProcess(processID(t, open(t, r.URL)))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-r.Done():
		if err == nil || !strings.Contains(err.Error(), "killed") {
			t.Errorf("Done yields %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("Done is silent 5 s after the child was killed")
	}
	r.Close()
	wantKept(t, start(t, dir).URL)
}

func TestStart_PathTooLongForASocket(t *testing.T) {
	t.Parallel()
	r := start(t, filepath.Join(t.TempDir(), strings.Repeat("long", 30)))
	put(t, r.URL)
	socket := strings.TrimPrefix(r.URL, "unix://")
	r.Close()
	if _, err := os.Stat(filepath.Dir(socket)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of the socket %s is left behind: %v", socket, err)
	}
}

func TestStart_SaysWhyTheChildEnded(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	dir := t.TempDir()
	broken := filepath.Join(dir, "appendonlydir")
	if err := os.WriteFile(broken, []byte("not a folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	for range 2 { // the first failure leaves the folder free
		_, err := embedded.Start(t.Context(), dir, log)
		if err == nil || errors.Is(err, embedded.ErrInUse) || !strings.Contains(err.Error(), "appendonlydir") {
			t.Errorf("Start says %v, want redis-server's own words", err)
		}
	}
}

func TestStart_WithoutRedisServerTheClockOfTheEmbeddedOneMoves(t *testing.T) {
	t.Setenv("PATH", "")
	r, err := embedded.Start(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Kind != "miniredis" || !strings.Contains(r.Note, "PATH") {
		t.Fatalf("kind is %s, note %q", r.Kind, r.Note)
	}
	put(t, r.URL)
	rdb := open(t, r.URL)
	if err := rdb.PExpire(t.Context(), "k", 500*time.Millisecond).Err(); err != nil {
		t.Fatal(err)
	}
	if server, err := rdb.Time(t.Context()).Result(); err != nil || time.Since(server).Abs() > time.Minute {
		t.Errorf("TIME is %v, %v", server, err)
	}
	deadline := time.After(5 * time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for rdb.Exists(t.Context(), "k").Val() == 1 {
		select {
		case <-deadline:
			t.Fatal("a key with a TTL of 500 ms still lives after 5 s")
		case <-tick.C:
		}
	}
	r.Close()
	r.Close()
}
