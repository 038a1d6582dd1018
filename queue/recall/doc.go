// Package recall answers most polls from a server's memory.
//
//	poll ──▶ Recall ──▶ what is remembered of the ticket is good enough ──▶ answer now, beat later
//	            │                                                              │
//	            └─▶ else: queue.Group, an exact answer, remembered             └─▶ flush, twice a second
//	turns channel ──▶ forget whose turn it is
//
// The people ahead of a ticket are those who were ahead at its last exact answer, less those
// who were taken from the head of the line since: both are counted by the same scripts, so
// that nothing is missed. What is not known is who left from the middle of the line, and
// whoever came back to an earlier place. So
//
//	exact − came back ≤ answered ≤ exact + left + taken
//
// counting those ahead who came back or left since the last exact answer, at most ExactEvery
// and MemoryPolls ago, and those taken from the head since the line was last heard, at most
// FreshFor ago; where people poll that is FlushEvery. A number that was told never rises while it comes from here.
//
// A ticket is asked about exactly when it is new here, near the front, announced, silent for
// half a heartbeat, or when this server has not heard of the line for FreshFor. Heartbeats of
// those who were answered from memory are written within about FlushEvery.
package recall
