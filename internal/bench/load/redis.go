package load

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
)

// Redis is a redis-server of this run's own.
type Redis struct {
	URL     string
	Client  redis.UniversalClient
	Version string   // kind and version
	cleanup []func() // in reverse
}

// StartRedis starts the embedded one without its append-only file: disks differ more
// than processors do. The caller closes it.
func StartRedis(ctx context.Context) (*Redis, error) {
	r := &Redis{}
	if err := r.start(ctx); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Redis) start(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	r.cleanup = append(r.cleanup, func() { _ = os.RemoveAll(dir) })
	child, err := embedded.Start(ctx, filepath.Join(dir, "redis"), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	r.cleanup = append(r.cleanup, child.Close)
	if child.Kind == "miniredis" {
		return errors.New("needs redis-server or valkey-server on PATH")
	}
	if r.Client, err = store.Open(child.URL); err != nil {
		return err
	}
	r.cleanup = append(r.cleanup, func() { _ = r.Client.Close() })
	if err := r.Client.ConfigSet(ctx, "appendonly", "no").Err(); err != nil {
		return err
	}
	info, err := r.Client.InfoMap(ctx, "server").Result()
	r.URL, r.Version = child.URL, child.Kind+" "+info["Server"]["redis_version"]
	return err
}

// Close ends the redis-server and removes its files.
func (r *Redis) Close() {
	for i := len(r.cleanup) - 1; i >= 0; i-- {
		r.cleanup[i]()
	}
}

// cpu is the processor time that Redis has used.
func (r *Redis) cpu(ctx context.Context) (time.Duration, error) {
	info, err := r.Client.InfoMap(ctx, "cpu").Result()
	if err != nil {
		return 0, err
	}
	return redisCPU(info["CPU"])
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
