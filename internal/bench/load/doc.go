// Package load is what the benchmark programs beside it share: servers that are processes
// of their own, a client that costs little, rounds in turn, and the table of the result.
//
//	program ── Compare ──▶ Client ── N keep-alive connections ──▶ Server   the same program,
//	   │                                                          (Serve)  started with --serve
//	   ├── Launch ── order, "cpu" ──▶ standard input ─────────────▶ ┤
//	   └── Redis  ── INFO cpu ──▶ redis-server ◀────────────────────┘
//
// A server is a process, so that the CPU that it used is known. The servers are loaded in
// turn for several rounds and ratios are taken within a round, so that a drift of the
// machine cancels.
package load
