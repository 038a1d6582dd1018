package pass_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anteroom/anteroom/pass"
)

func TestMiddleware_WithoutAPass(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	h := pass.Middleware(pass.Gate{Room: "sale", Verifier: at(s, noon), QueueURL: "https://queue.test/r/sale"})(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the shop was reached without a pass") }))

	for name, c := range map[string]struct {
		method, path string
		header       map[string]string
		status       int
		location     string
	}{
		"page load":          {"GET", "/p?a=1&b=2&b=3&c=%26%3D%2B+x&empty=&flag", map[string]string{"Sec-Fetch-Mode": "navigate"}, 302, "https://queue.test/r/sale?target=http%3A%2F%2Fshop.test%2Fp%3Fa%3D1%26b%3D2%26b%3D3%26c%3D%2526%253D%252B%2Bx%26empty%3D%26flag"},
		"old browser":        {"GET", "/", map[string]string{"Accept": "text/html,application/xhtml+xml,*/*"}, 302, "https://queue.test/r/sale?target=http%3A%2F%2Fshop.test%2F"},
		"axios":              {"GET", "/api", map[string]string{"Accept": "application/json, text/plain, */*"}, 429, ""},
		"fetch":              {"GET", "/api", map[string]string{"Accept": "*/*", "Sec-Fetch-Mode": "cors"}, 429, ""},
		"jquery":             {"GET", "/api", map[string]string{"Accept": "text/html", "X-Requested-With": "XMLHttpRequest"}, 429, ""},
		"form post":          {"POST", "/cart/add", map[string]string{"Sec-Fetch-Mode": "navigate", "Referer": "http://shop.test/item/7"}, 303, "https://queue.test/r/sale?target=http%3A%2F%2Fshop.test%2Fitem%2F7"},
		"form post, foreign": {"POST", "/cart/add", map[string]string{"Sec-Fetch-Mode": "navigate", "Referer": "https://evil.test/x"}, 303, "https://queue.test/r/sale?target=http%3A%2F%2Fshop.test%2F"},
		"forged header":      {"GET", "/", map[string]string{"Sec-Fetch-Mode": "navigate", "Anteroom-Visitor": "me"}, 302, "https://queue.test/r/sale?target=http%3A%2F%2Fshop.test%2F"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(c.method, "http://shop.test"+c.path, nil)
			for k, v := range c.header {
				r.Header.Set(k, v)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != c.status || w.Header().Get("Location") != c.location {
				t.Errorf("answered %d to %q, want %d to %q", w.Code, w.Header().Get("Location"), c.status, c.location)
			}
			if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Set-Cookie") != "" {
				t.Errorf("headers %v", w.Header())
			}
		})
	}
}

func TestMiddleware_PassReachesTheShopWithOurHeadersOnly(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	token, _, err := s.Sign("sale", "visitor-1", 1, noon, noon.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	var seen http.Header
	h := pass.Middleware(pass.Gate{Room: "sale", Verifier: at(s, noon), QueueURL: "https://queue.test/r/sale"})(
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			seen = r.Header
			if c, ok := pass.FromContext(r.Context()); !ok || c.Visitor != "visitor-1" {
				t.Errorf("FromContext is %+v, %v", c, ok)
			}
		}))
	r := httptest.NewRequest("GET", "http://shop.test/", nil)
	r.AddCookie(&http.Cookie{Name: pass.CookieName("sale"), Value: token})
	for _, name := range []string{"Anteroom-Visitor", "X-Anteroom-Session", "anteroom_visitor", "ANTEROOM-ROOM"} {
		r.Header[name] = []string{"forged"}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 200 || seen.Get("Anteroom-Visitor") != "visitor-1" {
		t.Fatalf("answered %d; the shop saw %v", w.Code, seen)
	}
	for name, values := range seen {
		if values[0] == "forged" {
			t.Errorf("the shop saw a forged %s", name)
		}
	}
}

func TestRemoteKeys_KeepsWhatItHasAndFindsARotatedKey(t *testing.T) {
	t.Parallel()
	first, second := newSigner(t, newKey(t)), newSigner(t, newKey(t))
	var body atomic.Value
	var fetches atomic.Int32
	set := func(v any) { data, _ := json.Marshal(v); body.Store(string(data)) }
	set(first.Keys())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetches.Add(1)
		_, _ = fmt.Fprint(w, body.Load())
	}))
	defer server.Close()
	now := noon
	keys := pass.NewRemoteKeys(server.URL, server.Client())
	pass.SetClock(keys, func() time.Time { return now })
	v := pass.Verifier{Keys: keys, Now: func() time.Time { return noon }}
	check := func(s *pass.Signer, want bool) {
		t.Helper()
		token, _, err := s.Sign("sale", "v", 1, noon, noon.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Verify(t.Context(), token, "sale", 1); (err == nil) != want {
			t.Fatalf("Verify says %v, want success %v", err, want)
		}
	}
	check(first, true)
	for range 50 {
		check(second, false)
	}
	if n := fetches.Load(); n != 1 {
		t.Errorf("%d fetches for 50 unknown keys at once, want 1", n)
	}
	set(second.Keys())
	now = now.Add(11 * time.Second)
	check(second, true)
	body.Store(strings.Repeat("<html>", 10))
	now = now.Add(time.Hour)
	check(second, true)
}
