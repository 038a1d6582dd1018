package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// round is one server under load for a while.
type round struct {
	took          time.Duration
	latencies     []time.Duration // one a request
	server, redis time.Duration   // processor time
}

func (r round) rate() float64 { return float64(len(r.latencies)) / r.took.Seconds() }

// each is a processor time a request, in µs.
func (r round) each(d time.Duration) float64 {
	return float64(d.Nanoseconds()) / 1000 / float64(len(r.latencies))
}

// quantile of the latencies, 0 <= q <= 1.
func (r round) quantile(q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(r.latencies))
	return sorted[int(q*float64(len(sorted)-1))]
}

// row is one server over all rounds.
type row struct {
	name   string
	rounds []round
}

// median of a figure over the rounds.
func (w row) median(figure func(round) float64) float64 {
	values := make([]float64, len(w.rounds))
	for i, r := range w.rounds {
		values[i] = figure(r)
	}
	return median(values)
}

// over is the median of the rates' ratios, each within one round.
func (w row) over(base row) float64 {
	ratios := make([]float64, len(w.rounds))
	for i, r := range w.rounds {
		ratios[i] = r.rate() / base.rounds[i].rate()
	}
	return median(ratios)
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// table is the report in Markdown: rows are plain, alone, grouped.
func table(cfg settings, redis string, rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "`go run ./internal/bench/pollbench --waiting %d --connections %d --seconds %g --rounds %d` (%s, %s, %d CPUs)\n\n",
		cfg.Waiting, cfg.Connections, cfg.Seconds, cfg.Rounds, redis, runtime.Version(), runtime.NumCPU())
	b.WriteString("| server | polls/s | of plain | of alone | server µs | Redis µs | p50 ms | p99 ms |\n")
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	ms := func(q float64) func(round) float64 {
		return func(r round) float64 { return float64(r.quantile(q).Microseconds()) / 1000 }
	}
	for _, w := range rows {
		fmt.Fprintf(&b, "| %s | %.0f | %.2f | %.2f | %.1f | %.1f | %.2f | %.2f |\n", w.name,
			w.median(round.rate), w.over(rows[0]), w.over(rows[1]),
			w.median(func(r round) float64 { return r.each(r.server) }),
			w.median(func(r round) float64 { return r.each(r.redis) }), w.median(ms(0.5)), w.median(ms(0.99)))
	}
	grouped := rows[2]
	fmt.Fprintf(&b, "\nBudgets: grouped of alone %s, grouped of plain %s.\n", verdict(grouped.over(rows[1]), 1.5), verdict(grouped.over(rows[0]), 0.6))
	return b.String()
}

func verdict(got, want float64) string {
	if got >= want {
		return fmt.Sprintf("%.2f, at least %.2f: met", got, want)
	}
	return fmt.Sprintf("%.2f, at least %.2f: missed", got, want)
}

const (
	sectionBegin = "<!-- pollbench -->\n"
	sectionEnd   = "<!-- /pollbench -->\n"
)

// writeSection puts the report into its section of a file that others write too.
func writeSection(file, report string) error {
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // documentation
		return err
	}
	return os.WriteFile(file, []byte(replaceSection(string(old), report)), 0o644) //nolint:gosec // documentation
}

// replaceSection replaces the text between the marks, or adds a section at the end.
func replaceSection(doc, report string) string {
	section := sectionBegin + report + sectionEnd
	before, rest, ok := strings.Cut(doc, sectionBegin)
	_, after, closed := strings.Cut(rest, sectionEnd)
	if ok && closed {
		return before + section + after
	}
	if doc == "" {
		doc = "# Benchmarks\n"
	}
	return doc + "\n## Polls\n\n" + section
}
