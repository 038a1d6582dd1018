// Package leaky is the asynchronous line: queues of jobs that leave at exactly the pace
// that their far side agreed to.
//
// This file set holds the decisions, which are pure: they get the time and the random
// number as arguments and do no I/O.
//
//	job ──▶ Breaker.Acquire ──▶ pace ──▶ Breaker.StillGood ──▶ deliver.Deliverer
//	             │ paused, saturated           │ paused meanwhile       │
//	             ▼                             ▼                        ▼
//	           wait                        Report(Neutral)       VerdictOf(result)
//	                                                                    │
//	     delivered · retry at Next(policy, …) · dead ◀── Breaker.Report ┘
//
// The breaker is asked before the pace, so that a destination which is away uses up none
// of what the pace allows. One Breaker stands for one destination: it holds that
// destination's concurrency, its pauses (429 and 503 with Retry-After), its failures and
// whether it is disabled (410). A policy says when a job that failed is tried again, and
// when that has no more use. The folder deliver makes one HTTP call and says what became
// of it; it knows neither of the two.
//
// Delivery is at least once: a receiver that worked but answered too late is called
// again, with the same id and the same bytes.
package leaky
