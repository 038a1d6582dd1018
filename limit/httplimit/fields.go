package httplimit

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/anteroom/anteroom/limit"
)

// Fields is a set of header families that tell a caller of its share.
type Fields int

// The families. Those of the IETF are sent always.
const (
	// Triple is RateLimit-Limit, -Remaining and -Reset of the draft's early versions.
	Triple Fields = 1 << iota
	// Legacy is X-RateLimit-Limit, -Remaining and -Reset, the last in seconds from now.
	Legacy
)

// write sets the fields of draft-ietf-httpapi-ratelimit-headers: the policy's quota and
// window, what remains, and the seconds until it is whole again, rounded up.
func (f Fields) write(h http.Header, of limit.Rule, d limit.Decision) {
	name := quoted(d.Rule)
	limitText, remaining, reset := strconv.FormatInt(d.Limit, 10), strconv.FormatInt(d.Remaining, 10), strconv.FormatInt(ceilSeconds(d.ResetAfter), 10)
	h.Set("RateLimit-Policy", name+";q="+limitText+";w="+strconv.FormatInt(max(1, ceilSeconds(of.Rate.Per)), 10))
	h.Set("RateLimit", name+";r="+remaining+";t="+reset)
	for family, prefix := range map[Fields]string{Triple: "RateLimit-", Legacy: "X-RateLimit-"} {
		if f&family != 0 {
			h.Set(prefix+"Limit", limitText)
			h.Set(prefix+"Remaining", remaining)
			h.Set(prefix+"Reset", reset)
		}
	}
}

// quoted is a string of structured fields (RFC 9651): rule names have no character that
// would have to be escaped.
func quoted(name string) string {
	return `"` + strings.Map(func(c rune) rune {
		if c < 0x20 || c > 0x7e || c == '"' || c == '\\' {
			return '_'
		}
		return c
	}, name) + `"`
}

// ceilSeconds rounds up: a caller who comes back when told must not be refused again.
func ceilSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
