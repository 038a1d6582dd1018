package dispatch

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anteroom/anteroom/leaky"
	"github.com/anteroom/anteroom/leaky/bucket"
)

// Dispatcher delivers the jobs of one queue. Run it once.
type Dispatcher struct {
	cfg     Config
	log     *slog.Logger
	window  *window
	breaker *leaky.Breaker
	metrics queueMetrics
	now     func() time.Time

	working   sync.WaitGroup // attempts, and what settles jobs
	settleCtx context.Context
	readers   atomic.Pointer[[]lineReader] // nil while it does not run

	free      atomic.Int64 // when the pace may have a slot, in ns of Unix time
	held      atomic.Bool  // by an operator
	progress  atomic.Int64 // when a record was handed out or none was to be, in ns of Unix time
	disables  atomic.Int64 // 410s so far
	disabling atomic.Int64 // of them, those that the Ledger does not know yet

	ledgerAway, bucketAway outage
}

type lineReader struct {
	bucket.Reader
	line bucket.Line
}

// New checks the configuration; the error wraps ErrConfig and names every mistake.
func New(cfg Config) (*Dispatcher, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	w, err := newWindow(cfg)
	if err != nil {
		return nil, fmt.Errorf("%w: queue %q: %w", ErrConfig, cfg.Queue, err)
	}
	d := &Dispatcher{
		cfg: cfg, log: cfg.Log.With("queue", cfg.Queue), window: w, breaker: leaky.NewBreaker(cfg.Breaker),
		metrics: cfg.Metrics.of(cfg), now: time.Now,
	}
	d.ledgerAway.name, d.bucketAway.name = "ledger", "bucket"
	return d, nil
}

// Breaker is the state of the destination as this dispatcher knows it.
func (d *Dispatcher) Breaker() leaky.BreakerStatus { return d.breaker.Status() }

// Run delivers until ctx ends. Then it begins no attempt, waits for those under way for
// Config.Drain, and gives the rest back to the bucket. A bucket or Ledger that is away is no
// error: nothing is sent until both are back.
func (d *Dispatcher) Run(ctx context.Context) error {
	settle, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	d.settleCtx = settle
	d.progress.Store(d.now().UnixNano())
	readers, err := d.openReaders()
	if err != nil {
		return err
	}
	d.readers.Store(&readers)
	defer d.readers.Store(nil)

	var parts sync.WaitGroup
	for _, r := range readers {
		parts.Go(func() { d.read(ctx, settle, r.line, r.Reader) })
	}
	parts.Go(func() { d.watch(ctx) })
	parts.Go(func() { d.loop(ctx, settle) })
	<-ctx.Done()
	cut := time.AfterFunc(d.cfg.Drain, stop)
	defer cut.Stop()
	parts.Wait()
	d.working.Wait()
	d.closeReaders(readers)
	return nil
}

func (d *Dispatcher) openReaders() (readers []lineReader, err error) {
	for _, line := range []bucket.Line{bucket.High, bucket.Normal, bucket.Later} {
		r, err := d.cfg.Bucket.Open(line)
		if err != nil {
			d.closeReaders(readers)
			return nil, fmt.Errorf("dispatch: queue %q, line %s: %w", d.cfg.Queue, line, err)
		}
		readers = append(readers, lineReader{r, line})
	}
	return readers, nil
}

// closeReaders commits what is done and gives the rest back.
func (d *Dispatcher) closeReaders(readers []lineReader) {
	ctx, cancel := context.WithTimeout(context.Background(), d.cfg.Drain)
	defer cancel()
	var all sync.WaitGroup
	for _, r := range readers {
		all.Go(func() {
			if err := r.Close(ctx); err != nil {
				d.log.Warn("what was done is not committed: it is handed out again", "line", r.line, "error", err)
			}
		})
	}
	all.Wait()
}

// settling does what settles a job beside the loop, which goes on.
func (d *Dispatcher) settling(do func(context.Context)) {
	d.working.Go(func() { do(d.settleCtx) })
}
