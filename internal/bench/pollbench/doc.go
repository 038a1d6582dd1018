// Pollbench measures what a poll costs, against two yardsticks in one run.
//
//	pollbench ── 64 keep-alive connections ──▶ plain     a bare chi handler, the same bytes
//	 (load)                                ├─▶ alone     the real front, one script a poll ──┐
//	                                       └─▶ grouped   the real front as shipped ──────────┴─▶ redis-server
//
// Each server is a process of its own (this program again, with --serve), so that the
// CPU that it used is known. The servers are loaded in turn for several rounds and
// ratios are taken within a round, so that a drift of the machine cancels.
package main
