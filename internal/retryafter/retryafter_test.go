package retryafter_test

import (
	"math"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/retryafter"
)

func TestParse(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 12, 31, 23, 59, 0, 0, time.UTC)
	for value, test := range map[string]struct {
		wait time.Duration
		ok   bool
	}{
		"120": {2 * time.Minute, true}, " 7\t": {7 * time.Second, true}, "007": {7 * time.Second, true}, "0": {0, true},
		"1.5": {2 * time.Second, true}, "1.0": {time.Second, true}, "0.001": {time.Second, true},
		"9223372036": {9223372036 * time.Second, true}, "9223372037": {math.MaxInt64, true}, "9223372036854775807.5": {math.MaxInt64, true},
		"99999999999999999999999.9":     {math.MaxInt64, true},
		"Fri, 31 Dec 2027 23:59:59 GMT": {59 * time.Second, true}, "Friday, 31-Dec-27 23:59:59 GMT": {59 * time.Second, true},
		"Fri Dec 31 23:59:59 2027": {59 * time.Second, true}, "Thu, 01 Jan 1970 00:00:00 GMT": {0, true},
		"Fri, 31 Dec 9999 23:59:59 GMT": {math.MaxInt64, true},
		"":                              {}, "-5": {}, "+5": {}, ".5": {}, "1.": {}, "1.5.2": {}, "1e3": {}, "0x10": {}, "٥": {}, "5s": {}, "120, 60": {}, "soon": {}, "NaN": {},
		"Fri, 31 Dec 2027 23:59:59 +0000": {},
	} {
		wait, ok := retryafter.Parse(value, now)
		if wait != test.wait || ok != test.ok {
			t.Errorf("%q: %v, %v, want %v, %v", value, wait, ok, test.wait, test.ok)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"120", "-5", "1.5", "999999999", "9223372036854775807.1", "Fri, 31 Dec 2027 23:59:59 GMT", "Friday, 31-Dec-27 23:59:59 GMT", "junk", ""} {
		f.Add(seed, int64(1830297599))
	}
	f.Fuzz(func(t *testing.T, value string, unix int64) {
		now := time.Unix(unix%(1<<40), 0)
		wait, ok := retryafter.Parse(value, now)
		if wait < 0 || (!ok && wait != 0) {
			t.Fatalf("%q: %v, %v", value, wait, ok)
		}
		later, still := retryafter.Parse(value, now.Add(time.Hour))
		if still != ok || later > wait {
			t.Fatalf("%q: %v, an hour later %v", value, wait, later)
		}
	})
}
