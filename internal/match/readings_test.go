package match_test

import (
	"errors"
	"testing"

	"github.com/anteroom/anteroom/internal/match"
)

// Where common servers disagree about a path, the visitor must not be the one who knows
// better: each of these is the protected page to some server, and another page to another.
func TestWR18_ServersThatReadDifferently(t *testing.T) {
	t.Parallel()
	m := rules(t, "sale shop.test/shop/sale", "vip shop.test/vip", "all shop.test/all")
	for path, who := range map[string]string{
		"/x#/../shop/sale":          "Go keeps # in the path, nginx cuts there",
		"/a%2fb/../../shop/sale":    "%2f is a letter (Apache NoDecode, Express)",
		"/shop//../sale":            "RFC 3986: .. takes the empty segment",
		"//x/shop/sale":             "new URL(req.url, base): x is a host",
		"/%2fx/vip":                 "the same after decoding",
		"/vip/../x":                 ".. is kept (Express, app.use)",
		"/vip/%2e%2e/x":             ".. is kept",
		"/vip/..;/x":                "..; is a name (all but Tomcat)",
		"/vip/%252e%252e/x":         "decoded once",
		"/x/..%20/vip":              "Windows ignores the space",
		"/vip/../all":               "two rooms",
		"/x%c0%af..%c0%afvip":       "overlong slash",
		"http://other.test/vip":     "the target names another host than Host",
		"http://shop.test%2f/vip":   "the host of the target is none",
		"/vip/%2e%2e%2fx":           "the slash is decoded after the dots",
		"/x/%25%32%65%25%32%65/vip": "decoded twice",
	} {
		if f, ok, err := m.Find("shop.test", path); !errors.Is(err, match.ErrPath) {
			t.Errorf("%s is of room %q, %v, %v; want ErrPath, because: %s", path, f.Room, ok, err, who)
		}
	}
	for path, want := range map[string]string{
		"/x/../vip": "vip", "//vip": "vip", "/vip/a/../b": "vip", "/vip/../vip": "vip", "/../vip": "vip", "/x/../y": "", "//x/y": "", `http://shop.test\vip`: "vip",
		"HTTP://Shop.Test:80/vip": "vip",
	} {
		if f, _, err := m.Find("shop.test", path); err != nil || f.Room != want {
			t.Errorf("%s is of room %q, %v; want %q", path, f.Room, err, want)
		}
	}
	one := rules(t, "sale shop.test/sale")
	for path, want := range map[string]bool{"/x/..%2fSALE": true, "/x;/../sale": true, "/a//../sale": true, "/a%2fb/../sale": false, "/sale/..;/x": false} {
		if f, ok, err := one.Find("shop.test", path); ok != want || ok == (err != nil) {
			t.Errorf("of one room, %s is of room %q, %v; want it in the room %v, or else ErrPath", path, f.Room, err, want)
		}
	}
	if _, ok, err := one.Find("other.test", "/a//../b"); ok || err != nil {
		t.Errorf("an odd path of a host without rooms: %v, %v; want it through", ok, err)
	}
	if f, _, err := rules(t, "all */", "vip */vip").Find("h", "/x/../vip"); err != nil || f.Room != "vip" {
		t.Errorf("a room for everything makes /x/../vip one of %q, %v; want vip, as the deeper rule decides", f.Room, err)
	}
}

func TestFind_Hosts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule, host string
		want       bool
	}{
		{"*.s.test:8443", "a.b.s.test:8443", true}, {"*.s.test:8443", "a.s.test", false}, {"s.test:443", "s.test", true}, {"s.test:80", "s.test", true},
		{"*.s.test:443", "a.s.test", true}, {"s.test:443", "s.test:80", false}, {"s.test:8443", "s.test:08443", true}, {"s.test", "S.test..", true}, {"s.test", "s.test:", true},
		{"*.s.test", "s.test", false}, {"*.s.test", "as.test", false}, {"[2001:db8::1]", "[2001:DB8:0::1]:8080", true}, {"*", "", true}, {"s.test", "", false},
	} {
		if _, ok, err := rules(t, "a "+c.rule+"/").Find(c.host, "/"); ok != c.want || err != nil {
			t.Errorf("rule %s, host %q: %v, %v; want %v", c.rule, c.host, ok, err, c.want)
		}
	}
	for _, bad := range []string{"s%2etest", "a@s.test", "s.test:x", "bücher.test", "::1", "[::1", "[::1%25eth0]", "s.test/x", "s test", "s.test:999999"} {
		if _, _, err := rules(t, "a */").Find(bad, "/"); !errors.Is(err, match.ErrHost) {
			t.Errorf("host %q: %v, want ErrHost", bad, err)
		}
	}
}

func TestNew_NamesTheEntries(t *testing.T) {
	t.Parallel()
	_, err := match.New([]match.Entry{
		{Room: "a", Rule: match.Rule{Host: "h", Path: "/Sale", CaseSensitive: true}},
		{Room: "b", Rule: match.Rule{Host: "h", Path: "/sale/"}},
	})
	var e *match.EntryError
	if !errors.As(err, &e) || e.Index != 1 || e.Tie != 0 {
		t.Errorf("a rule that folds case and one that does not, for one path: %v", err)
	}
	for _, path := range []string{"/a/../b", "/a//b", "/a;b", "/a?b", "/a#b", "/100%", "", "sale", `/a\b`, "/a."} {
		if _, err := match.New([]match.Entry{{Room: "a", Rule: match.Rule{Host: "h", Path: path}}}); !errors.Is(err, match.ErrRule) {
			t.Errorf("rule path %q: %v, want ErrRule", path, err)
		}
	}
}

// A suffix that a parameter or an escape hides, or that a program takes for its argument,
// does not make a page a picture.
func TestCovers_OddPathsAreExemptFromNothing(t *testing.T) {
	t.Parallel()
	m, e := rules(t, "all */"), match.Exemption{Methods: []string{"OPTIONS"}, Paths: []string{"/Terms/"}, Assets: true}
	for target, want := range map[string]bool{
		"/a.css": true, "/a.CSS?v=1": true, "/img/caf%C3%A9%20x.png": true, "/terms": true, "/terms/": true, "/TERMS/x": true, "/healthz": true, "/.well-known/x": true,
		"/sale;/a.css": false, "/sale;v=1/a.css": false, "/sale%3fx/a.css": false, "/sale%2fa.css": false, "/sale%2ecss": false, "/a.cs%73": false, "//a.css": false,
		"/x/../a.css": false, "/a.css;x": false, "/a.css/": false, "/sale/.css": false, "/sale.php/x.css": false, "/sale/../terms": false, "/termsandmore": false,
		"/health/vitamins": false, "/Health": false, "/robots.txt/x": false, "/a.css.": false, "/.well-known/../sale": false,
	} {
		f, _, err := m.Find("h", target)
		if err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		if why, ok := e.Covers("GET", f, match.Fetch{}); ok != want {
			t.Errorf("%s is exempt %v (%s), want %v", target, ok, why, want)
		}
		if _, ok := e.Covers("OPTIONS", f, match.Fetch{}); !ok {
			t.Errorf("OPTIONS %s is not exempt", target)
		}
	}
	if (match.Exemption{Paths: []string{"/"}}).Check() == nil {
		t.Error("an exemption of everything is accepted")
	}
}
