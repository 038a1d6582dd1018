package page

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestStatic(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, path string
		status       int
		media        string
	}{
		{"GET", AssetPath("queue.css"), 200, "text/css; charset=utf-8"},
		{"GET", AssetPath("queue.js"), 200, "text/javascript; charset=utf-8"},
		{"HEAD", AssetPath("queue.js"), 200, "text/javascript; charset=utf-8"},
		{"POST", AssetPath("queue.js"), 405, ""},
		{"GET", StaticPrefix + "queue.js", 404, ""},
		{"GET", StaticPrefix + "queue-000000000000.js", 404, ""},
		{"GET", StaticPrefix, 404, ""},
		{"GET", StaticPrefix + "../view.go", 404, ""},
	} {
		w := httptest.NewRecorder()
		Static().ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		if w.Code != c.status {
			t.Errorf("%s %s: status %d, want %d", c.method, c.path, w.Code, c.status)
		}
		kept := w.Header().Get("Cache-Control") == "public, max-age=31536000, immutable"
		if kept != (c.status == http.StatusOK) {
			t.Errorf("%s %s: Cache-Control %q", c.method, c.path, w.Header().Get("Cache-Control"))
		}
		if c.media != "" && w.Header().Get("Content-Type") != c.media {
			t.Errorf("%s %s: Content-Type %q, want %q", c.method, c.path, w.Header().Get("Content-Type"), c.media)
		}
		if c.method == "HEAD" && w.Body.Len() != 0 {
			t.Errorf("HEAD %s has a body", c.path)
		}
	}
}

func TestCSP(t *testing.T) {
	t.Parallel()
	got := CSP("shop.test", "127.0.0.1:8080", "", "evil.test; script-src *", "a b", "'unsafe-inline'", "[::1]:80")
	want := "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"form-action 'self' shop.test 127.0.0.1:8080 [::1]:80; base-uri 'none'; frame-ancestors 'none'"
	if got != want {
		t.Errorf("CSP\n got %s\nwant %s", got, want)
	}
	if strings.Contains(CSP(), "unsafe") {
		t.Errorf("CSP allows something unsafe: %s", CSP())
	}
}
