package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/anteroom/anteroom/internal/embedded"
	"github.com/anteroom/anteroom/internal/store"
	"github.com/anteroom/anteroom/queue"
)

// bench is a Redis with a filled room and the servers before it.
type bench struct {
	cfg          settings
	rdb          redis.UniversalClient
	redisVersion string
	tokens       []string
	servers      []*server
	cleanup      []func() // in reverse
}

func newBench(ctx context.Context, cfg settings) (*bench, error) {
	b := &bench{cfg: cfg}
	if err := b.start(ctx); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bench) close() {
	for i := len(b.cleanup) - 1; i >= 0; i-- {
		b.cleanup[i]()
	}
}

func (b *bench) start(ctx context.Context) error {
	url, err := b.startRedis(ctx)
	if err != nil {
		return err
	}
	if b.tokens, err = fill(ctx, queue.New(b.rdb), b.cfg.Waiting); err != nil {
		return err
	}
	grouped, err := b.startServer(order{Kind: "grouped", Redis: url, Profile: b.cfg.Profile})
	if err != nil {
		return err
	}
	alone, err := b.startServer(order{Kind: "alone", Redis: url})
	if err != nil {
		return err
	}
	answer, err := fetch(ctx, grouped.address, b.tokens[len(b.tokens)/2])
	if err != nil {
		return err
	}
	plain, err := b.startServer(order{Kind: "plain", Answer: answer})
	if err != nil {
		return err
	}
	b.servers = []*server{plain, alone, grouped}
	return nil
}

// startRedis starts the embedded one without its append-only file: disks differ more
// than processors do.
func (b *bench) startRedis(ctx context.Context) (string, error) {
	dir, err := os.MkdirTemp("", "pollbench")
	if err != nil {
		return "", err
	}
	b.cleanup = append(b.cleanup, func() { _ = os.RemoveAll(dir) })
	r, err := embedded.Start(ctx, filepath.Join(dir, "redis"), slog.New(slog.DiscardHandler))
	if err != nil {
		return "", err
	}
	b.cleanup = append(b.cleanup, r.Close)
	if r.Kind == "miniredis" {
		return "", errors.New("needs redis-server or valkey-server on PATH")
	}
	if b.rdb, err = store.Open(r.URL); err != nil {
		return "", err
	}
	b.cleanup = append(b.cleanup, func() { _ = b.rdb.Close() })
	if err := b.rdb.ConfigSet(ctx, "appendonly", "no").Err(); err != nil {
		return "", err
	}
	info, err := b.rdb.InfoMap(ctx, "server").Result()
	b.redisVersion = r.Kind + " " + info["Server"]["redis_version"]
	return r.URL, err
}

func (b *bench) startServer(o order) (*server, error) {
	s, err := launch(o)
	if err == nil {
		b.cleanup = append(b.cleanup, s.close)
	}
	return s, err
}

// used is processor time since the start of two processes.
type used struct{ server, redis time.Duration }

func (b *bench) usage(ctx context.Context, s *server) (used, error) {
	server, err := s.cpu()
	if err != nil {
		return used{}, err
	}
	info, err := b.rdb.InfoMap(ctx, "cpu").Result()
	if err != nil {
		return used{}, err
	}
	spent, err := redisCPU(info["CPU"])
	return used{server, spent}, err
}

// redisCPU is what Redis spent in user and system mode, by its INFO.
func redisCPU(info map[string]string) (time.Duration, error) {
	total := 0.0
	for _, field := range []string{"used_cpu_user", "used_cpu_sys"} {
		seconds, err := strconv.ParseFloat(strings.TrimSpace(info[field]), 64)
		if err != nil {
			return 0, fmt.Errorf("INFO cpu: %s: %w", field, err)
		}
		total += seconds
	}
	return time.Duration(total * float64(time.Second)), nil
}
