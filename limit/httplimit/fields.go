package httplimit

import (
	"net/http"
	"strconv"
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

// write sets the fields of draft-ietf-httpapi-ratelimit-headers. The policies are the rates
// of all limits of the request: q calls in w seconds. What remains (r), and the seconds until
// it is whole again (t, rounded up), are those of the limit that decided. A burst may be
// smaller than q, so r is what a caller may send now.
func (f Fields) write(h http.Header, checks []limit.Check, d limit.Decision) {
	policies := make([]byte, 0, 96)
	for i, c := range checks {
		if i > 0 {
			policies = append(policies, ", "...)
		}
		rule := c.Limit.Rule()
		policies = appendItem(policies, rule.Name, 'q', rule.Rate.Count, 'w', max(1, ceilSeconds(rule.Rate.Per)))
	}
	reset := ceilSeconds(d.ResetAfter)
	// Canonical names, and values without room to grow: this answers floods.
	own := [...]string{string(policies), string(appendItem(make([]byte, 0, 96), d.Rule, 'r', d.Remaining, 't', reset))}
	h["Ratelimit-Policy"], h["Ratelimit"] = own[0:1:1], own[1:2:2]
	f.older(h, d, reset)
}

// older sets the families that no draft has any more.
func (f Fields) older(h http.Header, d limit.Decision, reset int64) {
	for _, family := range [...]struct {
		is     Fields
		prefix string
	}{{Triple, "RateLimit-"}, {Legacy, "X-RateLimit-"}} {
		if f&family.is != 0 {
			h.Set(family.prefix+"Limit", strconv.FormatInt(d.Limit, 10))
			h.Set(family.prefix+"Remaining", strconv.FormatInt(d.Remaining, 10))
			h.Set(family.prefix+"Reset", strconv.FormatInt(reset, 10))
		}
	}
}

// appendItem adds an item of structured fields (RFC 9651) with two integers. Rule names have
// no character that would have to be escaped; limit.New saw to that.
func appendItem(b []byte, name string, k1 byte, v1 int64, k2 byte, v2 int64) []byte {
	b = append(append(append(b, '"'), name...), '"', ';', k1, '=')
	b = append(strconv.AppendInt(b, min(v1, mostInteger), 10), ';', k2, '=')
	return strconv.AppendInt(b, min(v2, mostInteger), 10)
}

// mostInteger is the largest integer of structured fields.
const mostInteger = 999_999_999_999_999

// ceilSeconds rounds up: a caller who comes back when told must not be refused again.
func ceilSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// WriteFields sets the fields of an answer to a request that these checks decided.
func WriteFields(h http.Header, f Fields, checks []limit.Check, d limit.Decision) {
	f.write(h, checks, d)
}

// RetryAfter is the value of Retry-After for a refusal: whole seconds, rounded up, at least 1.
func RetryAfter(d limit.Decision) int64 { return max(1, ceilSeconds(d.RetryAfter)) }
