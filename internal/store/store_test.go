package store_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/internal/store"
)

func TestMain(m *testing.M) { redistest.Main(m) }

func TestOpen_ReadsEveryKindAndHidesThePassword(t *testing.T) {
	t.Parallel()
	for url, good := range map[string]bool{
		"redis://:secret@h:6379/0":                         true,
		"unix:///tmp/none.sock":                            true,
		"redis+cluster://h1:6379?addr=h2:6379":             true,
		"redis+sentinel://h1:26379?master_name=m":          true,
		"http://secret@h":                                  false,
		"redis://:secret@h:port":                           false,
		"redis://:secret@h:6379/x?nonsense=secret-too-not": false,
		"nonsense": false,
	} {
		rdb, err := store.Open(url)
		if (err == nil) != good {
			t.Errorf("Open(%s) says %v", url, err)
		}
		if err != nil && (!errors.Is(err, store.ErrURL) || strings.Contains(err.Error(), ":secret@")) {
			t.Errorf("Open(%s) says %v", url, err)
		}
		if rdb != nil {
			_ = rdb.Close()
		}
	}
	if got := store.Redact("redis://user:secret@h:6379/1"); got != "redis://…@h:6379/1" {
		t.Errorf("Redact is %s", got)
	}
}

// RQ-01: with any policy but noeviction, Redis drops alive keys or whole lines.
func TestCheckEviction_RefusesEveryPolicyThatDrops(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	rdb := server.Client(t)
	for policy, fit := range map[string]bool{
		"noeviction": true, "allkeys-lru": false, "volatile-lru": false, "volatile-ttl": false, "allkeys-random": false,
	} {
		if err := rdb.ConfigSet(t.Context(), "maxmemory-policy", policy).Err(); err != nil {
			t.Fatal(err)
		}
		if err := store.CheckEviction(t.Context(), rdb); errors.Is(err, store.ErrEvicts) == fit {
			t.Errorf("with %s: %v", policy, err)
		}
	}
}

func TestCheckEviction_ServerThatDoesNotTellPasses(t *testing.T) {
	t.Parallel()
	if err := store.CheckEviction(t.Context(), redistest.Embedded(t)); err != nil {
		t.Error(err)
	}
}

func TestWarnPersistence(t *testing.T) {
	t.Parallel()
	for aof, warns := range map[string]bool{"no": true, "yes": false} {
		var out bytes.Buffer
		var rdb redis.UniversalClient = redistest.Start(t, "--appendonly", aof).Client(t)
		store.WarnPersistence(t.Context(), rdb, slog.New(slog.NewTextHandler(&out, nil)))
		if strings.Contains(out.String(), "append-only") != warns {
			t.Errorf("appendonly %s: log is %q", aof, out.String())
		}
	}
}
