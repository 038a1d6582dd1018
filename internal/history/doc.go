// Package history keeps what each room looked like over the last day, for charts, advice and
// the comparison of what visitors were promised with what they got.
//
//	recorder (any number) ──▶ point ──▶ Redis streams, one a span ──▶ Load ──▶ Between, Kept
//
// A point is one look at a room: gauges as they were, and counters that only grow, so that
// what happened between two points is a difference. A span is a stream with a bounded number
// of points at a fixed distance. The id of an entry is the beginning of its bucket of time,
// and a stream takes no id twice: however many recorders there are, the first one writes.
package history
