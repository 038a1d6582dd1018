// Package store opens the Redis that Anteroom is pointed at and checks that it is fit to
// hold a line.
package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Errors of this package.
var (
	// ErrURL means that a Redis URL cannot be read. The text never has the password.
	ErrURL = errors.New("store: unusable Redis URL")
	// ErrEvicts means that Redis would throw keys away when its memory is full.
	ErrEvicts = errors.New("store: this Redis evicts keys")
)

// A step is a fraction of a millisecond of Redis time: what takes longer is a fault, and
// the visitor is better served by a quick answer.
const (
	dialTimeout = 200 * time.Millisecond
	callTimeout = 300 * time.Millisecond
	poolSize    = 32
)

// Open makes a client for one node (redis, rediss, unix), a cluster
// (redis+cluster://host:port?addr=host:port) or Sentinel
// (redis+sentinel://host:port?master_name=name). It does not dial.
func Open(rawURL string) (redis.UniversalClient, error) {
	scheme, rest, ok := strings.Cut(rawURL, "://")
	if !ok {
		return nil, fmt.Errorf("%w: it has no scheme, such as redis://host:6379", ErrURL)
	}
	switch scheme {
	case "redis", "rediss", "unix":
		o, err := redis.ParseURL(rawURL)
		if err != nil {
			return nil, fmt.Errorf("%w: %s", ErrURL, reason(err, rawURL))
		}
		o.DialTimeout, o.ReadTimeout, o.WriteTimeout = dialTimeout, callTimeout, callTimeout
		o.ContextTimeoutEnabled, o.MaxRetries, o.PoolSize = true, 1, poolSize
		return redis.NewClient(o), nil
	case "redis+cluster", "rediss+cluster":
		o, err := redis.ParseClusterURL(strings.TrimSuffix(scheme, "+cluster") + "://" + rest)
		if err != nil {
			return nil, fmt.Errorf("%w: %s", ErrURL, reason(err, rawURL))
		}
		o.DialTimeout, o.ReadTimeout, o.WriteTimeout = dialTimeout, callTimeout, callTimeout
		o.ContextTimeoutEnabled, o.MaxRetries, o.PoolSize = true, 1, poolSize
		return redis.NewClusterClient(o), nil
	case "redis+sentinel", "rediss+sentinel":
		o, err := redis.ParseFailoverURL(strings.TrimSuffix(scheme, "+sentinel") + "://" + rest)
		if err != nil {
			return nil, fmt.Errorf("%w: %s", ErrURL, reason(err, rawURL))
		}
		o.DialTimeout, o.ReadTimeout, o.WriteTimeout = dialTimeout, callTimeout, callTimeout
		o.ContextTimeoutEnabled, o.MaxRetries, o.PoolSize = true, 1, poolSize
		return redis.NewFailoverClient(o), nil
	}
	return nil, fmt.Errorf("%w: scheme %q; want redis, rediss, unix, redis+cluster or redis+sentinel", ErrURL, scheme)
}

// reason is the library's complaint without the URL, which may hold a password.
func reason(err error, rawURL string) string {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err.Error()
	}
	return strings.ReplaceAll(err.Error(), rawURL, Redact(rawURL))
}

// Redact is a Redis URL without its credentials, for logs.
func Redact(rawURL string) string {
	scheme, rest, _ := strings.Cut(rawURL, "://")
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		rest = "…@" + rest[i+1:]
	}
	return scheme + "://" + rest
}

// CheckEviction returns ErrEvicts when any node may drop keys under memory pressure:
// alive keys would go first, and living visitors would look dead. A server that does not
// tell its policy passes.
func CheckEviction(ctx context.Context, rdb redis.UniversalClient) error {
	return eachNode(ctx, rdb, func(ctx context.Context, node *redis.Client) error {
		info, err := node.Info(ctx, "memory").Result()
		if refusal := redis.Error(nil); errors.As(err, &refusal) {
			return nil // a server that does not know the question
		}
		if err != nil {
			return fmt.Errorf("store: read the memory policy: %w", err)
		}
		policy := field(info, "maxmemory_policy")
		if policy != "" && policy != "noeviction" {
			return fmt.Errorf("%w: maxmemory-policy is %q. When memory is full it drops alive keys or whole lines, "+
				"so that visitors lose their places without a word. Set it to noeviction, or start with --allow-eviction", ErrEvicts, policy)
		}
		return nil
	})
}

// WarnPersistence says in the log what a restart of Redis would cost.
func WarnPersistence(ctx context.Context, rdb redis.UniversalClient, log *slog.Logger) {
	err := eachNode(ctx, rdb, func(ctx context.Context, node *redis.Client) error {
		info, err := node.Info(ctx, "persistence").Result()
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
		log.Warn("Redis does not tell whether it persists", "error", err)
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
