package embedded_test

import (
	"errors"
	"log/slog"
	"os/exec"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/embedded"
	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/internal/store"
)

func TestMain(m *testing.M) { redistest.Main(m) }

func TestStart_KeepsTheDataAndTheFolderForItself(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("needs redis-server on PATH (apt-get install redis-server)")
	}
	dir := t.TempDir() + "/data"
	log := slog.New(slog.DiscardHandler)
	first, err := embedded.Start(t.Context(), dir, log)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if _, err := embedded.Start(t.Context(), dir, log); !errors.Is(err, embedded.ErrInUse) {
		t.Errorf("a second start on the same folder says %v", err)
	}
	put(t, first.URL)
	first.Close()
	first.Close()

	again, err := embedded.Start(t.Context(), dir, log)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	rdb, err := store.Open(again.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rdb.Close() }()
	if v, err := rdb.Get(t.Context(), "k").Result(); v != "v" {
		t.Errorf("after a restart the key is %q, %v", v, err)
	}
}

func TestStart_WithoutRedisServerTheClockOfTheEmbeddedOneMoves(t *testing.T) {
	t.Setenv("PATH", "")
	r, err := embedded.Start(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Kind != "miniredis" {
		t.Fatalf("kind is %s", r.Kind)
	}
	put(t, r.URL)
	rdb, err := store.Open(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rdb.Close() }()
	if err := rdb.PExpire(t.Context(), "k", 500*time.Millisecond).Err(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(5 * time.Second)
	for rdb.Exists(t.Context(), "k").Val() == 1 {
		if time.Now().After(deadline) {
			t.Fatal("a key with a TTL of 500 ms still lives after 5 s")
		}
	}
}

func put(t *testing.T, url string) {
	t.Helper()
	rdb, err := store.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rdb.Close() }()
	if err := rdb.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
}
