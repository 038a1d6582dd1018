package deliver

import (
	"net/http"
	"strings"
	"time"

	"github.com/anteroom/anteroom/internal/retryafter"
)

// pauseFor is how long a destination that answered with header wants no calls, within 0
// and longest, and whether it said so itself. A date is measured from the answer's own
// Date where there is one, so that a receiver's wrong clock cancels out.
func pauseFor(header http.Header, now time.Time, byDefault, longest time.Duration) (wait time.Duration, said bool) {
	if theirs, err := http.ParseTime(header.Get("Date")); err == nil {
		now = theirs
	}
	wait, said = retryafter.Parse(header.Get("Retry-After"), now)
	if !said {
		wait = byDefault
	}
	return min(wait, longest), said
}

// digits reports whether s is one or more ASCII digits.
func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
