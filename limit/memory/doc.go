// Package memory keeps the six limiters of package limit in this process: for tests, for
// a single node, and for the time in which a shared store is away. It answers as redislimit
// does, field by field.
//
// Keys are bounded by number and by idle time, so that a flood of invented keys costs a
// fixed amount of memory. What a flood does cost: above the bound the key that was asked
// about longest ago is forgotten and starts as new. Choose the bound above the number of
// callers of one recovery time, or limit what makes keys by a limit on the whole service.
package memory
