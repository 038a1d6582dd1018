// Package redislimit keeps the six limiters of package limit in Redis (7 or later, one
// node, Sentinel or Cluster).
//
// A decision is one Lua script: it reads, decides and writes state and expiry in one
// atomic step, on Redis TIME. Each algorithm has a file in lua/, opened by a header with
// its key, TTL and cost; several limits are decided by one script in one round trip.
//
// What a lost Redis costs: the keys, so every caller is as new. What a lost answer costs:
// an error that leaves open whether the call was counted; nothing is ever sent twice.
package redislimit
