package main

import (
	"fmt"
	"strings"

	"github.com/anteroom/anteroom/internal/bench/load"
)

var section = load.Section{Mark: "gatebench", Title: "The gate"}

// budget is the least ratio of a known pass's rate to plain's.
const budget = 0.8

// Rows by their index. Each of the others is held against the plain row that gives its
// answer.
const (
	rowPlain = iota
	rowPlain204
	rowTraefik
	rowNginx
	rowFirst
)

func plainOf(row int) int {
	if row == rowNginx || row == rowPlain204 {
		return rowPlain204
	}
	return rowPlain
}

// table is the report in Markdown.
func table(cfg settings, redis string, rows []load.Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "`go run ./internal/bench/gatebench --passes %d --first %d --connections %d --seconds %g --rounds %d` %s\n\n",
		cfg.Passes, cfg.First, cfg.Load.Connections, cfg.Load.Seconds, cfg.Load.Rounds, load.Ground(redis))
	b.WriteString("| server | requests/s | of plain | server µs | Redis µs | p50 ms | p99 ms |\n")
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	over := func(row int) float64 { return rows[row].Over(rows[plainOf(row)]) }
	for i, w := range rows {
		fmt.Fprintf(&b, "| %s | %.0f | %.2f | %.1f | %.1f | %.2f | %.2f |\n", w.Name,
			w.Median(load.Round.Rate), over(i), w.Median(load.Round.ServerMicros), w.Median(load.Round.RedisMicros),
			w.Median(load.Millis(0.5)), w.Median(load.Millis(0.99)))
	}
	fmt.Fprintf(&b, "\nBudgets: traefik of plain %s, nginx of plain 204 %s.\n",
		load.Verdict(over(rowTraefik), budget), load.Verdict(over(rowNginx), budget))
	return b.String()
}
