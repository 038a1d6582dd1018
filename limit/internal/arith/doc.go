// Package arith is what the six rate limiters compute, without I/O and without a clock:
// (state, now, cost) to (answer, next state). The Lua files of redislimit repeat it
// statement by statement; one conformance suite holds the two together.
//
// Time is in whole microseconds. Amounts that leak or refill are counted in units, of
// which a call of cost 1 takes PerToken and a microsecond returns PerMicro: with rate
// count/per these are per and count divided by their greatest common divisor, so every
// rational rate is exact. All intermediate values stay below 2^53, because Lua has no
// other number than the float64.
package arith
