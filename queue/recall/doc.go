// Package recall answers most polls from a server's memory.
//
//	poll ──▶ Recall ──▶ what is remembered of the ticket is good enough ──▶ answer now, beat later
//	            │                                                              │
//	            └─▶ else: queue.Group, an exact answer, remembered             └─▶ flush, twice a second
//	moves channel ──▶ how far the line has moved; whose turn it is
//
// The people ahead of a ticket are those who were ahead at its last answer, less those who
// were taken from the head of the line since, less those ahead who left it elsewhere, more
// those who came back to an earlier place. The line counts all of them in the same scripts
// that do them, numbers them, and announces them; a server that missed a number knows it and
// asks. So an answer from memory is exact as of the last word of the line, at most FreshFor
// old and mostly a few milliseconds, with one exception: a number that was told never rises,
// so while somebody came back it may be lower than the exact one by as many.
//
// A ticket is asked about exactly when it is new here, near the front, announced, or silent
// for half a heartbeat; when this server has not heard of the line for FreshFor; and after
// MemoryPolls polls or ExactEvery. A lost message costs a visitor that time at most.
// Heartbeats of those who were answered from memory are written within about FlushEvery.
package recall
