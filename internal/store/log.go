package store

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"
)

// LogTo sends what go-redis says by itself to log, at debug level; without it go-redis
// prints to stderr. It is debug because whoever made the call gets the error too and says
// it once, while go-redis repeats it for every dial of its pool. The setting is go-redis's
// and of the whole process: programs call this, libraries do not.
func LogTo(log *slog.Logger) { redis.SetLogger(driverLog{log}) }

// driverLog is go-redis's logger over a slog one.
type driverLog struct{ log *slog.Logger }

// Printf implements go-redis's interface.
func (d driverLog) Printf(ctx context.Context, format string, args ...any) {
	if d.log.Enabled(ctx, slog.LevelDebug) {
		d.log.DebugContext(ctx, "redis client", "said", fmt.Sprintf(format, args...))
	}
}
