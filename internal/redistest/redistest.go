package redistest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

// shared is the one server of a test process, started by the first test that asks.
// It is the only state of the package: a test binary has no other place to keep it.
var shared struct {
	once   sync.Once
	server *Server
	err    error
}

// Main runs a package's tests, ends the shared server by its process id, and fails the
// run when a goroutine was left behind.
func Main(m *testing.M) {
	code := m.Run()
	if shared.server != nil {
		shared.server.close()
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines left behind:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// Real is a client of the test process's redis-server. Tests share the server and use
// rooms of their own (RoomName); they never flush it.
func Real(t testing.TB) *redis.Client {
	t.Helper()
	need(t)
	shared.once.Do(func() { shared.server, shared.err = start() })
	if shared.err != nil {
		t.Fatalf("redistest: %v", shared.err)
	}
	return shared.server.Client(t)
}

// Embedded is a client of a miniredis of this test alone.
func Embedded(t testing.TB) *redis.Client {
	t.Helper()
	mini := miniredis.NewMiniRedis()
	if err := mini.Start(); err != nil {
		t.Fatalf("redistest: miniredis: %v", err)
	}
	rdb := redis.NewClient(&redis.Options{Addr: mini.Addr(), ContextTimeoutEnabled: true})
	if err := rdb.Ping(context.Background()).Err(); err != nil {
		t.Fatalf("redistest: miniredis: %v", err)
	}
	t.Cleanup(func() {
		_ = rdb.Close()
		mini.Close()
	})
	return rdb
}

// Each runs a test on the real Redis and on the embedded one.
func Each(t *testing.T, test func(t *testing.T, rdb *redis.Client)) {
	t.Run("redis", func(t *testing.T) { t.Parallel(); test(t, Real(t)) })
	t.Run("embedded", func(t *testing.T) { t.Parallel(); test(t, Embedded(t)) })
}

// RoomName is a valid room name that no other test has.
func RoomName(t testing.TB) string {
	t.Helper()
	var b [8]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	return "t" + hex.EncodeToString(b[:])
}
