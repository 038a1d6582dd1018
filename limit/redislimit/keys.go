package redislimit

import (
	"strings"

	"github.com/anteroom/anteroom/limit"
	"github.com/anteroom/anteroom/limit/internal/arith"
)

// Every key is <prefix>:{<tag>}:<rule>:<algorithm's letter>[:<key>]. The tag is the
// caller's key, so that callers spread over the shards of a cluster, or the store's one tag
// (WithTag), behind which the caller's key stands. TTLs are in lua/*.lua: until the key is
// as new, never above twice the rule's recovery.

// The letters keep algorithms apart: none can read what another one wrote.
const (
	letterFixedWindow    = "f" // String
	letterSlidingLog     = "l" // ZSET
	letterSlidingCounter = "c" // String, one of two
	letterSlidingOther   = "d" // String, the other
	letterTokenBucket    = "t" // Hash
	letterLeakyMeter     = "m" // String
	letterGCRA           = "g" // String
)

// appendKeys appends the keys of one check.
func (s *Store) appendKeys(keys []string, l *limit.Limit, key string) []string {
	head, tail := s.prefix+":{"+s.tag+"}:"+l.Rule().Name+":", ":"+key
	if s.tag == "" {
		head, tail = s.prefix+":{"+escape(key)+"}:"+l.Rule().Name+":", ""
	}
	switch l.Params().Kind {
	case arith.FixedWindow:
		return append(keys, head+letterFixedWindow+tail)
	case arith.SlidingLog:
		return append(keys, head+letterSlidingLog+tail)
	case arith.SlidingCounter:
		return append(keys, head+letterSlidingCounter+tail, head+letterSlidingOther+tail)
	case arith.TokenBucket:
		return append(keys, head+letterTokenBucket+tail)
	case arith.LeakyMeter:
		return append(keys, head+letterLeakyMeter+tail)
	default:
		return append(keys, head+letterGCRA+tail)
	}
}

// escape keeps a caller's key from ending the hash tag early.
func escape(key string) string {
	if !strings.ContainsAny(key, "{}%") {
		return key
	}
	return strings.NewReplacer("%", "%25", "{", "%7B", "}", "%7D").Replace(key)
}
