// Package dispatch takes the jobs of one queue out of its bucket and delivers them, at the
// queue's pace.
//
//	bucket ──▶ reader high   ──┐
//	       ──▶ reader normal ──┼──▶ window ──▶ loop ─────────────────▶ attempt ──▶ settle
//	       ──▶ reader later  ──┘      ▲         │ breaker, slot, begin     │          │
//	                                  │         ▼                          ▼          ▼
//	             in hand: of a key,   │       Ledger                   Deliverer   Ledger, bucket
//	             or sent back unsent  └──────────────────────────────────────────────┘
//
// Any number of dispatchers work on one queue, in any number of processes. What they share
// is in the bucket (which jobs there are) and in the Ledger (the pace, who works on what,
// pauses). A dispatcher keeps nothing else, so it may be killed at any instruction.
//
// # The pace
//
// One loop a dispatcher takes one slot a job from the Ledger, a moment ahead, and the
// attempt begins at its slot. A slot that is missed, because the process was stopped, the
// machine busy or the destination paused meanwhile, is lost and another is taken: missed
// time is never paid back. The breaker is asked before, so that a destination which is away
// uses up no slots.
//
// # What happens in which order
//
//	delivered     Ledger.Finish, then Done
//	tried again   Put into Later, then Ledger.Retry, then Done
//	dead          Put into Dead, then Ledger.Finish, then Done
//	429, 503      Ledger.Pause for all dispatchers; the job stays in hand, no attempt counts
//	410           Ledger.Disable for all dispatchers; likewise
//
// So a job is always in the bucket or known to be finished. A kill between two steps repeats
// the later ones; only a kill between the answer of the destination and Ledger.Finish repeats
// the delivery itself, after the lease of the one that was killed.
//
// # Order
//
// Of the jobs with one key and lane one is under way at a time, and the others wait for it
// in the window, in the order of the bucket. If it is tried again it stays in hand, so that
// nothing passes it. Windows are bounded: a key that holds up many jobs holds up its
// partition.
package dispatch
