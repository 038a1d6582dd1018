package redistest_test

import (
	"context"
	"errors"
	"regexp"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

func TestEach_GivesAWorkingRedis(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		key := redistest.RoomName(t)
		if err := rdb.Set(t.Context(), key, "v", time.Minute).Err(); err != nil {
			t.Fatal(err)
		}
		if got, err := rdb.Get(t.Context(), key).Result(); got != "v" || err != nil {
			t.Errorf("GET is %q, %v", got, err)
		}
	})
}

func TestReal_IsOneServerWithoutATCPPort(t *testing.T) {
	t.Parallel()
	a, b := redistest.Real(t), redistest.Real(t)
	if a.Options().Addr != b.Options().Addr {
		t.Errorf("two servers: %s and %s", a.Options().Addr, b.Options().Addr)
	}
	if port, err := a.ConfigGet(t.Context(), "port").Result(); err != nil || port["port"] != "0" {
		t.Errorf("port is %v, %v, want 0", port, err)
	}
}

func TestEmbedded_IsOneForEachTest(t *testing.T) {
	t.Parallel()
	a, b := redistest.Embedded(t), redistest.Embedded(t)
	if err := a.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if n := b.Exists(t.Context(), "k").Val(); n != 0 {
		t.Error("a second miniredis sees the first one's key")
	}
}

func TestServer_RestartKeepsWhatAOFHolds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want int64
	}{"aof": {redistest.AOF(), 1}, "memory": {nil, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, c.args...)
			rdb := s.Client(t)
			if err := rdb.Set(t.Context(), "k", "v", 0).Err(); err != nil {
				t.Fatal(err)
			}
			if err := s.Restart(); err != nil {
				t.Fatal(err)
			}
			if n, err := rdb.Exists(t.Context(), "k").Result(); n != c.want || err != nil {
				t.Errorf("after a restart %d keys, %v, want %d", n, err, c.want)
			}
		})
	}
}

func TestServer_PauseHangsAndResumeGoesOn(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	rdb := s.Client(t)
	if err := s.Pause(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := rdb.Ping(ctx).Err(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("PING of a paused server says %v, want a timeout", err)
	}
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := rdb.Ping(t.Context()).Err(); err != nil {
		t.Errorf("PING of a resumed server says %v", err)
	}
}

func TestServer_KilledTwiceIsDown(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	if err := s.Pause(); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	s.Kill()
	if err := s.Resume(); !errors.Is(err, redistest.ErrDown) {
		t.Errorf("Resume of a killed server says %v", err)
	}
	if err := s.Client(t).Ping(t.Context()).Err(); err == nil {
		t.Error("a killed server answers PING")
	}
	if err := s.Restart(); err != nil {
		t.Errorf("Restart of a killed server says %v", err)
	}
}

func TestRoomName_IsValidAndNew(t *testing.T) {
	t.Parallel()
	valid := regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
	a, b := redistest.RoomName(t), redistest.RoomName(t)
	if !valid.MatchString(a) || a == b {
		t.Errorf("names are %q and %q", a, b)
	}
}

func TestCluster_TakesKeysOfEverySlot(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 2)
	rdb := cluster.Client(t)
	for range 20 {
		if err := rdb.Set(t.Context(), redistest.RoomName(t), "v", time.Minute).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for i, node := range cluster.Nodes {
		if n := node.Client(t).DBSize(t.Context()).Val(); n == 0 {
			t.Errorf("node %d of 2 has none of 20 keys", i)
		}
	}
}
