package recall

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// NewAt is New with a clock.
func NewAt(exact Poller, line Line, log *slog.Logger, reg prometheus.Registerer, now func() time.Time) *Recall {
	c := New(exact, line, log, reg)
	c.now = now
	return c
}

// Moved takes a message as Listen would.
func (c *Recall) Moved(channel, payload string) { c.moved(channel, payload) }
