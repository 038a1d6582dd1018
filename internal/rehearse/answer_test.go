package rehearse

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"syscall"
	"testing"
	"time"
)

func TestKind(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"timeout":             fmt.Errorf("a: %w", context.DeadlineExceeded),
		"connection refused":  fmt.Errorf("a: %w", syscall.ECONNREFUSED),
		"connection reset":    fmt.Errorf("a: %w", syscall.EPIPE),
		"connection closed":   fmt.Errorf("a: %w", io.EOF),
		"other network error": errors.New("a wire was cut"),
	} {
		if got := kind(err); got != want {
			t.Errorf("%v is %q, want %q", err, got, want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "3": 3 * sec, "-3": 0, "soon": 0, "99999999999999": 0,
		now.Add(time.Minute).Format(http.TimeFormat): time.Minute,
		now.Add(-sec).Format(http.TimeFormat):        0,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("Retry-After %q is %s, want %s", text, got, want)
		}
	}
}

func FuzzSubject(f *testing.F) {
	f.Add("h." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"x"}`)) + ".s")
	f.Add("..")
	f.Add("a.e30.b")
	f.Fuzz(func(t *testing.T, pass string) {
		if sub, ok := subject(pass); ok && sub == "" {
			t.Errorf("an empty subject of %q", pass)
		}
	})
}
