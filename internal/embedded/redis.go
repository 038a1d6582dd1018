package embedded

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"sync"
)

// Redis is a Redis of this process.
type Redis struct {
	// URL is what store.Open takes.
	URL string
	// Kind is redis-server, valkey-server or miniredis.
	Kind string
	// Note is a sentence for the log: what this Redis is good for, and why it was chosen.
	Note string

	done chan error
	stop func()
	once sync.Once
}

// ErrInUse means that another process runs on the same data folder.
var ErrInUse = errors.New("embedded: the data folder is in use by another process")

// Start runs a redis-server or valkey-server from PATH on dir, which is made when it is
// missing, or else a miniredis. It returns when the data is loaded and commands are
// answered. Ctx bounds the start only; Close ends the Redis.
func Start(ctx context.Context, dir string, log *slog.Logger) (*Redis, error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return startChild(ctx, path, name, dir, log)
		}
	}
	return startMini()
}

// Done yields once, with the reason, if the child ended by itself.
func (r *Redis) Done() <-chan error { return r.done }

// Close ends the Redis and waits for it. A second call does nothing.
func (r *Redis) Close() { r.once.Do(r.stop) }
