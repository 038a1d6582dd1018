package store_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/store"
)

// lines is a log that may be written while it is read.
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

// The setting is of the whole process, so this test runs alone and both levels in turn.
func TestLogTo_TakesWhatTheDriverPrints(t *testing.T) { //nolint:paralleltest // see above
	for level, says := range map[slog.Level]bool{slog.LevelDebug: true, slog.LevelInfo: false} {
		out := &lines{}
		store.LogTo(slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level})))
		rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: "/nowhere/redis.sock", MaxRetries: -1, DialerRetries: 1, DialTimeout: time.Second})
		if err := rdb.Ping(context.Background()).Err(); err == nil {
			t.Error("a Redis that is nowhere answers")
		}
		_ = rdb.Close()
		if got := strings.Contains(out.String(), "level=DEBUG"); got != says {
			t.Errorf("at %v the log is %q", level, out.String())
		}
	}
	store.LogTo(slog.New(slog.DiscardHandler))
}
