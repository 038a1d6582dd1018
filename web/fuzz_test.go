package web

import (
	"net/url"
	"strings"
	"testing"

	"github.com/anteroom/anteroom/internal/rooms"
)

// FuzzTarget holds that a visitor is only ever sent to a listed host, or to a path of this
// one, and never to the waiting room's own pages.
func FuzzTarget(f *testing.F) {
	for _, seed := range []string{
		"https://shop.test/cart?a=1", "//evil.test/x", `/\evil.test`, "/%09/evil.test", "https:evil.test", "https://shop.test.evil.test",
		"https://evilshop.test", "https://shop.test@evil.test", "javascript:alert(1)", "/x\r\nX-A: b", "https://queue.test/r/sale?target=%2Fcart",
		"/r/sale?target=%2F%2Fevil.test", "https://shop.test:443/", "HTTPS://SHOP.TEST/", "/a/../r/sale", "https://shop.test/r/sale?target=x", "/\t/evil.test", "http://[::1", "?",
	} {
		f.Add(seed)
	}
	s := New(Config{PublicURL: &url.URL{Scheme: "https", Host: "queue.test"}, Metrics: nothing{}})
	room := rooms.Room{Name: "sale", Targets: []string{"shop.test"}, Default: "https://shop.test/start"}
	f.Fuzz(func(t *testing.T, wanted string) {
		got := s.safeTarget(room, wanted)
		u, err := url.Parse(got)
		if err != nil {
			t.Fatalf("%q leads to %q: %v", wanted, got, err)
		}
		host := strings.ToLower(u.Host)
		if host != "" && host != "shop.test" && host != "queue.test" || host == "" && (!strings.HasPrefix(got, "/") || strings.HasPrefix(got, "//")) {
			t.Fatalf("%q leads to %q", wanted, got)
		}
		if u.User != nil || strings.ContainsAny(got, "\\\r\n\t") || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" {
			t.Fatalf("%q leads to %q", wanted, got)
		}
		if s.ownPage(room, u) {
			t.Fatalf("%q leads to our own page %q", wanted, got)
		}
		if again := s.safeTarget(room, got); again != got {
			t.Fatalf("%q leads to %q, and that to %q", wanted, got, again)
		}
	})
}
