// Package queue is the line of a waiting room, kept in Redis.
//
// A visitor joins and holds a signed Ticket whose place, microseconds of Redis
// TIME made strictly increasing, is the order of the line. Polls renew an alive
// key. Admit moves living heads of the line into the active set, a claim turns an
// admitted visitor into a session, and whoever got in or left is spent.
//
//	            join                    admit                  claim
//	visitor ───────────▶ waiting ─────────────────▶ admitted ─────────▶ active
//	   ▲                    │  away: set aside          │ no-show          │ expiry,
//	   │    poll puts it    ▼  (alive key kept)         ▼                  ▼ leave, release
//	   └──── back ───── nowhere                       spent ◀──────────── spent
//
// Every step is one Lua script (lua/*.lua, each opened by a header with its keys,
// arguments, returns and cost), so a crash between any two Redis calls leaves a
// whole line. Because the signed ticket carries the place, the line re-forms in its
// old order after Redis forgot it: a poll of a valid, unspent ticket that is in no
// set puts it back.
//
// The package knows nothing of HTTP. What it stores is described in keys.go.
package queue
