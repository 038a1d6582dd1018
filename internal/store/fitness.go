package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// ErrEvicts means that Redis would throw keys away when its memory is full.
var ErrEvicts = errors.New("store: this Redis evicts keys")

// CheckEviction returns ErrEvicts when any master may drop keys under memory pressure:
// alive keys would go first, and living visitors would look dead. It asks INFO, which
// hosted offers allow where they forbid CONFIG. A server that knows no such question, or
// forbids it, passes; one that cannot be reached, is loading or wants a password is an
// error.
func CheckEviction(ctx context.Context, rdb redis.UniversalClient) error {
	return eachNode(ctx, rdb, func(ctx context.Context, node *redis.Client) error {
		info, err := node.Info(ctx, "memory").Result()
		if keepsQuiet(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("store: read the memory policy: %w", err)
		}
		policy, limit := field(info, "maxmemory_policy"), field(info, "maxmemory_human")
		if policy == "" || policy == "noeviction" {
			return nil
		}
		if limit == "0B" {
			limit = "none yet"
		}
		return fmt.Errorf("%w: maxmemory-policy is %q (maxmemory: %s). When memory is full it drops alive keys or whole lines, "+
			"so that visitors lose their places without a word. Set it to noeviction, or start with --allow-eviction", ErrEvicts, policy, limit)
	})
}

// keepsQuiet tells a server that does not know or not allow INFO from one that is not
// ready (LOADING, NOAUTH, too many clients).
func keepsQuiet(err error) bool {
	var refusal redis.Error
	if !errors.As(err, &refusal) {
		return false
	}
	text := refusal.Error()
	return strings.HasPrefix(text, "NOPERM") || strings.Contains(text, "unknown command") || strings.Contains(text, "not supported")
}

// WarnPersistence says in the log what a restart of Redis would cost.
func WarnPersistence(ctx context.Context, rdb redis.UniversalClient, log *slog.Logger) {
	err := eachNode(ctx, rdb, func(ctx context.Context, node *redis.Client) error {
		info, err := node.Info(ctx, "persistence").Result()
		if keepsQuiet(err) {
			log.Debug("Redis does not tell whether it persists", "error", err)
			return nil
		}
		if err != nil {
			return err
		}
		if aof, err := strconv.Atoi(field(info, "aof_enabled")); err == nil && aof == 0 {
			log.Warn("Redis has no append-only file: after a restart of Redis the line re-forms from the visitors' tickets, "+
				"and until then nobody is let in", "node", node.Options().Addr, "mend", "appendonly yes")
		}
		return nil
	})
	if err != nil {
		log.Warn("whether Redis persists is unknown", "error", err)
	}
}

// eachNode visits every master of a cluster, or the one node.
func eachNode(ctx context.Context, rdb redis.UniversalClient, visit func(context.Context, *redis.Client) error) error {
	switch c := rdb.(type) {
	case *redis.ClusterClient:
		var mu sync.Mutex // ForEachMaster visits nodes at once
		return c.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
			mu.Lock()
			defer mu.Unlock()
			return visit(ctx, node)
		})
	case *redis.Client:
		return visit(ctx, c)
	}
	return nil
}

func field(info, name string) string {
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// Check refuses a Redis that is not fit to hold a line and warns about one that forgets
// when it restarts. An unreachable Redis is an error too: a server should not start blind.
func Check(ctx context.Context, rdb redis.UniversalClient, allowEviction bool, log *slog.Logger) error {
	err := CheckEviction(ctx, rdb)
	if errors.Is(err, ErrEvicts) && allowEviction {
		log.Warn("starting on a Redis that evicts keys, as --allow-eviction asks", "risk", err)
		err = nil
	}
	if err != nil {
		return err
	}
	WarnPersistence(ctx, rdb, log)
	return nil
}
