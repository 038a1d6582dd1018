package rooms

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Rate is a number of admissions in a unit of time.
type Rate struct {
	Count int
	Per   time.Duration
}

// ErrRate means that a rate is not written as count/unit.
var ErrRate = errors.New(`a rate is a whole number and a unit, such as "2/s", "600/m" or "30000/h"`)

// MaxRatePerSecond is the fastest rate.
const MaxRatePerSecond = 100_000

// ParseRate reads "600/m".
func ParseRate(s string) (Rate, error) {
	count, unit, ok := strings.Cut(strings.TrimSpace(s), "/")
	per, known := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]
	n, err := strconv.Atoi(count)
	if !ok || !known || err != nil {
		return Rate{}, fmt.Errorf("%w, not %q", ErrRate, s)
	}
	if n < 1 || n > MaxRatePerSecond*int(per/time.Second) {
		return Rate{}, fmt.Errorf("rate %q is out of range: more than 0, at most %d/s", s, MaxRatePerSecond)
	}
	return Rate{Count: n, Per: per}, nil
}

// Interval is the time between two admissions, rounded up to a microsecond, so that the
// rate is never passed.
func (r Rate) Interval() time.Duration {
	if r.Count < 1 {
		return 0
	}
	us := r.Per.Microseconds()
	return time.Duration((us+int64(r.Count)-1)/int64(r.Count)) * time.Microsecond
}

func (r Rate) String() string {
	unit := map[time.Duration]string{time.Second: "s", time.Minute: "m", time.Hour: "h"}[r.Per]
	return strconv.Itoa(r.Count) + "/" + unit
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (r *Rate) UnmarshalYAML(n *yaml.Node) error {
	got, err := ParseRate(n.Value)
	if err != nil {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %v", n.Line, err)}}
	}
	*r = got
	return nil
}
