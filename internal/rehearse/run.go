package rehearse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/spf13/pflag"
)

// knock is how long the servers have to answer at the start.
const knock = 5 * time.Second

// Exit statuses.
const (
	exitHeld   = 0
	exitBroken = 1
	exitUsage  = 2
)

// Main runs the command: flags in, report on stdout, progress and mistakes on stderr. It
// returns the exit status.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c, err := Parse(args, stdout)
	if errors.Is(err, pflag.ErrHelp) {
		return exitHeld
	}
	var report *Report
	if err == nil {
		report, err = Run(ctx, c, stderr)
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "%v\nrehearse --help says more.\n", err)
		return exitUsage
	}
	if c.JSON {
		err = report.JSON(stdout)
	} else {
		err = report.Text(stdout)
	}
	if err != nil || len(report.Broken) > 0 {
		return exitBroken
	}
	return exitHeld
}

// Run plays the crowd and judges it. It blocks until every visitor is through, the timeout
// passed or ctx is done, and leaves no goroutine behind. Progress goes to stderr. An error
// means that the rehearsal could not begin; it wraps ErrUsage.
func Run(ctx context.Context, c Config, stderr io.Writer) (*Report, error) {
	given := c.Capacity
	if err := c.askStatus(ctx); err != nil {
		return nil, err
	}
	if c.Seed == 0 {
		c.Seed = rand.Uint64() //nolint:gosec // no secret
	}
	rnd := rand.New(rand.NewPCG(c.Seed, 0)) //nolint:gosec // a plan that can be repeated, no secret

	timed, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	p := newProgress(stderr, isTerminal(stderr))
	cr := newCrowd(&c, rnd, time.Now())
	cr.play(timed, p)
	took := time.Since(cr.start)
	p.end()

	r := newReport(&c, Check(cr.history, c.Rules), &cr.traffic, took)
	r.CapacityFrom = origin(given, c.Capacity)
	if ctx.Err() != nil {
		r.Interrupted = true
		r.Broken = append(r.Broken, "the run was interrupted")
	}
	return r, nil
}

// askStatus makes sure that there is such a room, and learns its capacity if none was given.
func (c *Config) askStatus(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, knock)
	defer cancel()
	w := newWire(c, time.Now())
	defer w.close()
	if len(c.Through) > 0 {
		base, err := c.scout(ctx, w)
		if err != nil {
			return fmt.Errorf("%w: cannot begin: %w", ErrUsage, err)
		}
		if base != "" {
			w.bases = append([]string{base}, w.bases...)
		}
		if len(w.bases) == 0 { // all come straight in: the report will say so
			return nil
		}
	}
	s, err := w.look(ctx)
	if err != nil {
		return fmt.Errorf("%w: cannot begin: %w", ErrUsage, err)
	}
	if c.Capacity == 0 {
		c.Capacity = s.Capacity
	}
	if c.Capacity <= 0 {
		return fmt.Errorf("%w: the room's status names no capacity: give --capacity", ErrUsage)
	}
	return nil
}

// origin says where the capacity comes from.
func origin(given, known int) string {
	switch {
	case given > 0:
		return "flag"
	case known > 0:
		return "status"
	}
	return "nowhere"
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
