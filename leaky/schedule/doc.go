// Package schedule decides which of the jobs that wait in one dispatcher leaves next. It is
// pure: it knows no clock and does no I/O.
//
// Two levels of start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996), both in
// units of cost, which is what the pace is charged in:
//
//	              share of the lane                 equal shares
//	pace ──▶ high ──────────────────▶ cost 1 │ 2-3 │ 4-7 │ 8-15 │ …   each first in, first out
//	     └─▶ normal ────────────────▶ cost 1 │ 2-3 │ 4-7 │ 8-15 │ …
//
// Every flow has a tag: the work that it was given, divided by its weight. The flow with the
// smallest tag goes next, and its tag grows by cost / weight. A flow that was empty begins
// at the tag of the one that is served, so that time without jobs earns it nothing.
//
// What follows: while both lanes wait, each gets its share, apart from one job of either; a
// lane that waits alone gets everything. Within a lane, jobs of the double cost or more
// stand in another flow: however many heavy jobs wait, the light ones have their part of
// the pace, and the heavy ones have theirs.
package schedule
