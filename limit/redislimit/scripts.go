package redislimit

import (
	"crypto/sha1" //nolint:gosec // Redis names scripts by SHA-1; nothing is kept secret by it
	_ "embed"
	"encoding/hex"

	"github.com/anteroom/anteroom/limit/internal/arith"
)

var (
	//go:embed lua/prelude.lua
	preludeLua string
	//go:embed lua/fixed_window.lua
	fixedWindowLua string
	//go:embed lua/sliding_log.lua
	slidingLogLua string
	//go:embed lua/sliding_counter.lua
	slidingCounterLua string
	//go:embed lua/token_bucket.lua
	tokenBucketLua string
	//go:embed lua/leaky_meter.lua
	leakyMeterLua string
	//go:embed lua/gcra.lua
	gcraLua string
	//go:embed lua/decide.lua
	decideLua string
)

// script is the source of one atomic step and the name that Redis caches it by.
type script struct{ source, sha string }

func newScript(algorithms string) script {
	source := preludeLua + algorithms + decideLua
	sum := sha1.Sum([]byte(source)) //nolint:gosec // as above
	return script{source, hex.EncodeToString(sum[:])}
}

var (
	fixedWindowScript    = newScript(fixedWindowLua)
	slidingLogScript     = newScript(slidingLogLua)
	slidingCounterScript = newScript(slidingCounterLua)
	tokenBucketScript    = newScript(tokenBucketLua)
	leakyMeterScript     = newScript(leakyMeterLua)
	gcraScript           = newScript(gcraLua)
	// severalScript decides on several limits, of whatever algorithm.
	severalScript = newScript(fixedWindowLua + slidingLogLua + slidingCounterLua + tokenBucketLua + leakyMeterLua + gcraLua)
)

// scriptOf is the script of one algorithm: shorter than that of all, so cheaper to run.
func scriptOf(kind arith.Kind) *script {
	switch kind {
	case arith.FixedWindow:
		return &fixedWindowScript
	case arith.SlidingLog:
		return &slidingLogScript
	case arith.SlidingCounter:
		return &slidingCounterScript
	case arith.TokenBucket:
		return &tokenBucketScript
	case arith.LeakyMeter:
		return &leakyMeterScript
	default:
		return &gcraScript
	}
}
