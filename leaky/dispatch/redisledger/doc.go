// Package redisledger is the dispatch.Ledger of one queue in Redis: one Lua script a step,
// Redis TIME as the clock, every key of a queue under one hash tag. If Redis is emptied, the
// pace begins anew without a burst, and what was known of jobs is forgotten: a job that was
// under way may then be sent twice.
package redisledger
