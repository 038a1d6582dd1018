// Pollbench measures what a poll costs, against two yardsticks in one run.
//
//	pollbench ── 64 keep-alive connections ──▶ plain     a bare chi handler, the same bytes
//	 (load)                                ├─▶ alone     the real front, one script a poll ──┐
//	                                       ├─▶ grouped   the real front, every poll exact ───┤
//	                                       └─▶ memory    the real front as shipped ──────────┴─▶ redis-server
//
// Package load says how servers are started, loaded in turn and compared.
package main
