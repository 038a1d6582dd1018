package main

import (
	"fmt"
	"strings"

	"github.com/anteroom/anteroom/internal/bench/load"
)

var section = load.Section{Mark: "pollbench", Title: "Polls"}

// table is the report in Markdown: rows are plain, alone, grouped, memory.
func table(cfg settings, redis string, rows []load.Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "`go run ./internal/bench/pollbench --waiting %d --connections %d --seconds %g --rounds %d` %s\n\n",
		cfg.Waiting, cfg.Load.Connections, cfg.Load.Seconds, cfg.Load.Rounds, load.Ground(redis))
	b.WriteString("| server | polls/s | of plain | of alone | server µs | Redis µs | p50 ms | p99 ms |\n")
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, w := range rows {
		fmt.Fprintf(&b, "| %s | %.0f | %.2f | %.2f | %.1f | %.1f | %.2f | %.2f |\n", w.Name,
			w.Median(load.Round.Rate), w.Over(rows[0]), w.Over(rows[1]),
			w.Median(load.Round.ServerMicros), w.Median(load.Round.RedisMicros),
			w.Median(load.Millis(0.5)), w.Median(load.Millis(0.99)))
	}
	grouped, memory := rows[2], rows[3]
	fmt.Fprintf(&b, "\nBudgets: grouped of alone %s, grouped of plain %s, memory of plain %s.\n",
		load.Verdict(grouped.Over(rows[1]), 1.5), load.Verdict(grouped.Over(rows[0]), 0.6), load.Verdict(memory.Over(rows[0]), 0.85))
	return b.String()
}
