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

// Main is the body of a package's TestMain: it runs the tests, ends the shared server by
// its process id, and fails the run when a goroutine was left behind.
//
//	func TestMain(m *testing.M) { redistest.Main(m) }
func Main(m *testing.M, options ...goleak.Option) {
	code := m.Run()
	if shared.server != nil {
		shared.server.close()
	}
	if code == 0 {
		if err := goleak.Find(append(ignored(), options...)...); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines left behind:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// ignored are goroutines of go-redis that outlive a closed client by a moment: a pool
// whose server was away dials once a second and sees between two dials that it is
// closed, and a dial under way ends at its timeout.
func ignored() []goleak.Option {
	const pool = "github.com/redis/go-redis/v9/internal/pool.(*ConnPool)."
	return []goleak.Option{
		goleak.IgnoreAnyFunction(pool + "tryDial"),
		goleak.IgnoreAnyFunction(pool + "dialConn"),
	}
}

// Real is a client of the test process's redis-server. Tests share the server and use
// rooms of their own (RoomName); they never flush it.
func Real(t testing.TB) *redis.Client {
	t.Helper()
	Need(t)
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

// Each runs a test on the real Redis and on the embedded one, in subtests "redis" and
// "embedded" that run in parallel.
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
