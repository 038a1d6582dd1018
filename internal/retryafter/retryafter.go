// Package retryafter reads the Retry-After header, as clients and the job queue obey it.
package retryafter

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Parse reads a Retry-After value (RFC 9110, section 10.2.3): seconds, or an HTTP
// date in one of its three forms, which is measured from now. The wait is never negative:
// a date in the past is 0, "now". It is not capped, and a number of seconds too large for
// a Duration is the longest one. Fractions of a second, which the RFC lacks and servers
// send, are rounded up to a whole one.
//
// ok is false for what says nothing: empty, negative numbers, junk.
func Parse(value string, now time.Time) (wait time.Duration, ok bool) {
	value = strings.TrimSpace(value)
	if whole, fraction, has := strings.Cut(value, "."); digits(whole) && (!has || digits(fraction)) {
		n, err := strconv.ParseInt(whole, 10, 64)
		if strings.Trim(fraction, "0") != "" && n < math.MaxInt64 {
			n++
		}
		if err != nil || n > int64(math.MaxInt64/time.Second) {
			return math.MaxInt64, true
		}
		return time.Duration(n) * time.Second, true
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return max(date.Sub(now), 0), true
}

// digits reports whether s is one or more ASCII digits.
func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
