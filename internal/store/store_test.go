package store_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/internal/store"
)

func TestMain(m *testing.M) { redistest.Main(m) }

func TestOpen_ReadsEveryKind(t *testing.T) {
	t.Parallel()
	for url, good := range map[string]bool{
		"redis://h":                                                     true,
		"redis://:secret@h:6379/0":                                      true,
		"rediss://me:secret@h:6379":                                     true,
		"unix:///tmp/none.sock":                                         true,
		"redis+cluster://h1:6379?addr=h2:6379":                          true,
		"rediss+cluster://h1:6379":                                      true,
		"redis+sentinel://h1:26379?master_name=m":                       true,
		"redis+sentinel://h1:26379":                                     false, // which master
		"redis+sentinel://h1:26379?master_name=m&route_by_latency=true": false,
		"redis+sentinel://h1:26379?master_name=m&replica_only=true":     false,
		"http://h":                  false,
		"unix+cluster:///tmp/s":     false,
		"+cluster://h":              false,
		"redis://h:port":            false,
		"redis://h:6379/x":          false,
		"redis://h:6379?nonsense=1": false,
		"unix://":                   false,
		"redis://":                  false,
		"h:6379":                    false,
		"":                          false,
	} {
		rdb, err := store.Open(url)
		if (err == nil) != good || err != nil && !errors.Is(err, store.ErrURL) {
			t.Errorf("Open(%q) says %v, want accepted %v", url, err, good)
		}
		if rdb != nil {
			_ = rdb.Close()
		}
	}
}

func TestOpen_SetsTightTimesUnlessTheURLHasOthers(t *testing.T) {
	t.Parallel()
	rdb, err := store.Open("redis://h?read_timeout=2s&pool_size=7")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rdb.Close() }()
	o := rdb.(*redis.Client).Options()
	if o.DialTimeout != 200*time.Millisecond || o.WriteTimeout != 300*time.Millisecond || !o.ContextTimeoutEnabled || o.MaxRetries != 1 {
		t.Errorf("dial %v, write %v, context timeouts %v, retries %d", o.DialTimeout, o.WriteTimeout, o.ContextTimeoutEnabled, o.MaxRetries)
	}
	if o.ReadTimeout != 2*time.Second || o.PoolSize != 7 {
		t.Errorf("the URL's read timeout and pool size became %v and %d", o.ReadTimeout, o.PoolSize)
	}
}

func TestErrorsAndRedact_NeverShowThePassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"redis://:hunter2@h:port", "redis://:hunter2@h:6379/x", "redis://:hunter2@h?nonsense=1", "http://me:hunter2@h",
		"redis://:1/hunter2@h:6379", "redis://:1?hunter2@h:6379", "redis://:1#hunter2@h:6379", "redis://:%hunter2@h", "redis://:1?a=hunter2@h",
		"redis://me:hun@hunter2@h:x", "redis://h?password=hunter2", "redis+sentinel://me:hunter2@h", "redis+cluster://:hunter2@h:x?addr=h2",
		"me:hunter2@h", "hunter2",
	} {
		if rdb, err := store.Open(url); err == nil {
			_ = rdb.Close()
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Open(%s) says %v", url, err)
		}
		if got := store.Redact(url); strings.Contains(got, "hunter2") {
			t.Errorf("Redact(%s) is %s", url, got)
		}
	}
}

func TestRedact_KeepsWhereRedisIs(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"redis://user:secret@h:6379/1":                           "redis://…@h:6379/1",
		"unix:///run/redis.sock?db=1":                            "unix:///run/redis.sock?db=1",
		"redis+sentinel://:s@h?master_name=m&addr=h2&password=x": "redis+sentinel://…@h?master_name=m&addr=h2&password=…",
	} {
		if got := store.Redact(url); got != want {
			t.Errorf("Redact(%s) is %s, want %s", url, got, want)
		}
	}
}

// go-redis by itself takes 0.8 s to say that a connection is refused.
func TestOpen_FailsFastWhenRedisIsAway(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	rdb, err := store.Open(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rdb.Close() }()
	if err := rdb.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	begin := time.Now()
	if err := rdb.Ping(t.Context()).Err(); err == nil {
		t.Error("a killed server answers")
	}
	if took := time.Since(begin); took > 400*time.Millisecond {
		t.Errorf("a refused connection was told after %v", took)
	}
	if err := store.CheckEviction(t.Context(), rdb); err == nil || errors.Is(err, store.ErrEvicts) {
		t.Errorf("CheckEviction of a server that is away says %v", err)
	}
}

func TestCheckEviction_PasswordMissingIsNoPass(t *testing.T) {
	t.Parallel()
	rdb := redistest.Start(t, "--requirepass", "hunter2").Client(t)
	if err := store.CheckEviction(t.Context(), rdb); err == nil || errors.Is(err, store.ErrEvicts) {
		t.Errorf("without the password: %v", err)
	}
}

func TestCheckEviction_WorksWithoutConfigAndPassesWithoutInfo(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--maxmemory-policy", "allkeys-lru")
	ctx := t.Context()
	for user, c := range map[string]struct{ forbids, want string }{
		"noconfig": {"-config", "evicts"}, "noinfo": {"-info", ""},
	} {
		if err := server.Client(t).Do(ctx, "ACL", "SETUSER", user, "on", ">p", "~*", "+@all", c.forbids).Err(); err != nil {
			t.Fatal(err)
		}
		o := server.Options()
		o.Username, o.Password = user, "p"
		rdb := redis.NewClient(o)
		defer func() { _ = rdb.Close() }()
		if err := store.CheckEviction(ctx, rdb); errors.Is(err, store.ErrEvicts) != (c.want != "") || c.want == "" && err != nil {
			t.Errorf("user %s: %v", user, err)
		}
	}
}

func TestCheckEviction_AsksEveryMasterOfACluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 2)
	rdb, err := store.Open(cluster.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rdb.Close() }()
	if err := store.CheckEviction(t.Context(), rdb); err != nil {
		t.Errorf("a cluster that evicts nothing: %v", err)
	}
	for _, node := range cluster.Nodes {
		admin := node.Client(t)
		set := func(policy string) {
			if err := admin.ConfigSet(t.Context(), "maxmemory-policy", policy).Err(); err != nil {
				t.Fatal(err)
			}
		}
		set("volatile-ttl")
		if err := store.CheckEviction(t.Context(), rdb); !errors.Is(err, store.ErrEvicts) {
			t.Errorf("a cluster with one evicting master: %v", err)
		}
		set("noeviction")
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
	var out bytes.Buffer
	store.WarnPersistence(t.Context(), redistest.Embedded(t), slog.New(slog.NewTextHandler(&out, nil)))
	if out.Len() > 0 {
		t.Errorf("a server that does not tell: log is %q", out.String())
	}
}

func TestCheck_EvictionCanBeAllowed(t *testing.T) {
	t.Parallel()
	rdb := redistest.Start(t, "--maxmemory-policy", "allkeys-lfu").Client(t)
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	if err := store.Check(t.Context(), rdb, false, log); !errors.Is(err, store.ErrEvicts) {
		t.Errorf("Check says %v", err)
	}
	if err := store.Check(t.Context(), rdb, true, log); err != nil || !strings.Contains(out.String(), "allkeys-lfu") {
		t.Errorf("with eviction allowed Check says %v, log %s", err, out.String())
	}
}
