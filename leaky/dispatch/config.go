package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/anteroom/anteroom/leaky"
	"github.com/anteroom/anteroom/leaky/bucket"
	"github.com/anteroom/anteroom/leaky/deliver"
	"github.com/anteroom/anteroom/leaky/schedule"
)

// ErrConfig is wrapped by every mistake that New finds.
var ErrConfig = errors.New("dispatch: configuration")

// Deliverer makes one attempt, as deliver.Deliverer does.
type Deliverer interface {
	Deliver(ctx context.Context, d deliver.Delivery) deliver.Result
}

// Config is one queue and what its dispatcher works with.
type Config struct {
	Queue string // its name
	URL   string // its destination
	// Rate is how much cost leaves in a second, of all dispatchers together; over 0. The
	// Ledger holds it; here it says how far slots lie apart.
	Rate float64
	// Burst is how much cost may leave at once after a pause in the work. Default 1.
	Burst int64
	// Timeout is the longest that Deliver takes. Default 30 s.
	Timeout time.Duration
	Retry   leaky.Policy
	Breaker leaky.BreakerConfig
	// High and Normal are the weights of the lanes. Defaults 3 and 1.
	High, Normal float64
	// Window is how many jobs of a line are in hand at most, those under way included.
	// Default 256, at least twice the concurrency. Their bytes are bounded too: see MostHeld.
	Window int
	// LeaseMargin is how much longer than Timeout a job is kept from other dispatchers: for
	// its slot before, for the Ledger after, and for a process that was stopped for a while.
	// What a dispatcher that was killed had under way is tried again after both. Default 30 s.
	LeaseMargin time.Duration
	// Drain is how long attempts may go on after Run was told to stop. Default 10 s.
	Drain time.Duration

	Bucket  bucket.Bucket
	Ledger  Ledger
	Deliver Deliverer
	Metrics *Metrics // shared by the queues of a process; nil = none
	Log     *slog.Logger
}

// MostHeld bounds the bytes of one line's jobs in hand, save for the one that passes it. A
// concurrency whose jobs need more gets more.
const MostHeld = 8 << 20

func (c Config) withDefaults() Config {
	byDefault := func(d *time.Duration, value time.Duration) {
		if *d <= 0 {
			*d = value
		}
	}
	byDefault(&c.Timeout, 30*time.Second)
	byDefault(&c.Drain, 10*time.Second)
	byDefault(&c.LeaseMargin, 30*time.Second)
	c.Burst = max(c.Burst, 1)
	c.Breaker.Concurrency = max(c.Breaker.Concurrency, 1)
	if c.High == 0 && c.Normal == 0 {
		c.High, c.Normal = 3, 1
	}
	if c.Window <= 0 {
		c.Window = 256
	}
	c.Window = max(c.Window, 2*c.Breaker.Concurrency)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Metrics == nil {
		c.Metrics = NewMetrics(nil)
	}
	return c
}

// validate reports every mistake at once.
func (c Config) validate() error {
	var found []error
	add := func(bad bool, format string, args ...any) {
		if bad {
			found = append(found, fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...))
		}
	}
	add(c.Queue == "", "the queue has no name")
	add(!(c.Rate > 0), "queue %q: rate is %v, want more than 0", c.Queue, c.Rate)
	add(c.Bucket == nil || c.Ledger == nil || c.Deliver == nil, "queue %q: no bucket, no ledger or no deliverer", c.Queue)
	if err := c.Retry.Validate(); err != nil {
		found = append(found, fmt.Errorf("%w: queue %q: %w", ErrConfig, c.Queue, err))
	}
	return errors.Join(found...)
}

func (c Config) shares() []schedule.Share {
	return []schedule.Share{{Lane: string(bucket.High), Weight: c.High}, {Lane: string(bucket.Normal), Weight: c.Normal}}
}

// apart is how far the slots of work of a cost lie apart.
func (c Config) apart(cost int64) time.Duration {
	return time.Duration(float64(cost) / c.Rate * float64(time.Second))
}

// tolerance is how late after its slot an attempt may begin. A second has more than the rate
// and one only if a job is late by a whole slot, so a part of that is left to the way to the
// receiver; 15 ms are enough where slots lie far apart, and 5 ms are needed where they lie so
// close that no timer hits them.
func (c Config) tolerance() time.Duration {
	return min(max(c.apart(7)/10, 5*time.Millisecond), 15*time.Millisecond)
}
