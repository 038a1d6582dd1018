package ops_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anteroom/anteroom/internal/ops"
)

func get(t *testing.T, path string, checks ...ops.Check) (status int, body string) {
	t.Helper()
	w := httptest.NewRecorder()
	ops.NewServer(ops.NewRegistry(), checks...).Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

func TestReadyz_SaysEveryReason(t *testing.T) {
	t.Parallel()
	well := func(context.Context) error { return nil }
	ill := func(why string) ops.Check { return func(context.Context) error { return errors.New(why) } }
	if status, body := get(t, "/readyz"); status != http.StatusOK || body != "" {
		t.Errorf("without checks: %d %q", status, body)
	}
	if status, body := get(t, "/readyz", well, well); status != http.StatusOK || body != "" {
		t.Errorf("all well: %d %q", status, body)
	}
	status, body := get(t, "/readyz", ill("no store"), well, ill("no broker"))
	if status != http.StatusServiceUnavailable || strings.TrimSpace(body) != "no store\nno broker" {
		t.Errorf("two ill: %d %q", status, body)
	}
	if status, _ := get(t, "/healthz", ill("no store")); status != http.StatusOK {
		t.Errorf("/healthz is %d, want 200 while the process lives", status)
	}
}

// A check that does not answer is cut off: probes have timeouts of their own.
func TestReadyz_ChecksHaveADeadline(t *testing.T) {
	t.Parallel()
	_, _ = get(t, "/readyz", func(ctx context.Context) error {
		if _, limited := ctx.Deadline(); !limited {
			t.Error("the check has no deadline")
		}
		return nil
	})
}
