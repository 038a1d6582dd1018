// Gatebench measures what the gate's answer to a proxy costs, against a bare handler.
//
//	gatebench ── 64 keep-alive connections ──▶ plain, plain 204   bare chi handlers, the same bytes
//	 (load)                                ├─▶ traefik, nginx     the real front; passes it knows ──┐
//	                                       └─▶ first sight        the real front; passes it never ──┴─▶ redis-server
//	                                                              saw: a signature and a touch each
//
// Package load says how servers are started, loaded in turn and compared. All servers get
// requests of the same bytes, but for the proxy's name and the pass.
package main
