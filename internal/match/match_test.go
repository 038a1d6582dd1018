package match_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/anteroom/anteroom/internal/match"
)

func TestNormalise(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"/": "", "": "", "//": "", "/sale": "/sale", "/sale/": "/sale", "/sale?x=/../y": "/sale", "/Sale": "/Sale",
		"/a/b/../c": "/a/c", "/../../a": "/a", "/a/./b": "/a/b", "/a//b///c/": "/a/b/c", `/a\b`: "/a/b", "/a%2fb": "/a/b",
		"/%73ale": "/sale", "/%2573ale": "/sale", "/sale;v=1/x;y": "/sale/x", "/sale%3Bv": "/sale", "/sale%3fx": "/sale",
		"/50%25-off": "/50%25-off", "/%25%34%31": "/A", "/caf%E9": "/caf\xe9", "/;/x": "/x", "/x;/../sale": "/sale", "/x%3f/../sale": "/sale", "/x/..;a=b/sale": "/sale", "/sale.": "/sale", "/sale%20": "/sale", "/a.b/c": "/a.b/c",
		"http://shop.test/sale?x": "/sale", "https://shop.test": "", "/.well-known/x": "/.well-known/x", "/é": "/é", "/%C3%A9": "/é",
	} {
		if got, err := match.Normalise(in); err != nil || got != want {
			t.Errorf("Normalise(%q) is %q, %v; want %q", in, got, err, want)
		}
	}
	for _, bad := range []string{"/%", "/%2", "/%zz", "/a%00b", "/a\nb", "/%0d%0a", "/%25252525252573ale",
		"/x/.../y", "/x/..%20/y", "/%c0%af", "/%e0%80%af", "/x#/../y", "*", "sale", "ftp://h/x", "http:///x", `\x`} {
		if got, err := match.Normalise(bad); !errors.Is(err, match.ErrPath) {
			t.Errorf("Normalise(%q) is %q, %v; want ErrPath", bad, got, err)
		}
	}
}

func rules(t testing.TB, list ...string) *match.Matcher {
	t.Helper()
	var entries []match.Entry
	for _, l := range list {
		room, rest, _ := strings.Cut(l, " ")
		host, path, _ := strings.Cut(rest, "/")
		path, sensitive := strings.CutSuffix(path, " sensitive")
		entries = append(entries, match.Entry{Room: room, Rule: match.Rule{Host: host, Path: "/" + path, CaseSensitive: sensitive}})
	}
	m, err := match.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestFind_TheMostExactRuleWins(t *testing.T) {
	t.Parallel()
	m := rules(t, "all */", "wild *.shop.test/", "deep *.eu.shop.test/", "shop shop.test/", "sale shop.test/sale", "vip shop.test/sale/vip",
		"port shop.test:8443/", "case shop.test/Exact sensitive")
	for address, want := range map[string]string{
		"other.test /": "all", "a.shop.test /x": "wild", "b.eu.shop.test /": "deep", "shop.test /x": "shop", "SHOP.test. /": "shop",
		"shop.test:443 /sale": "sale", "shop.test /sale/x": "sale", "shop.test /salesman": "shop", "shop.test /sale/VIP/1": "vip",
		"shop.test:8443 /sale": "port", "shop.test /Exact/x": "case", "shop.test /exact": "shop", "[2001:db8::1]:80 /": "all",
	} {
		host, path, _ := strings.Cut(address, " ")
		if got, ok, err := m.Find(host, path); err != nil || !ok || got.Room != want {
			t.Errorf("%s belongs to %q, %v, %v; want %s", address, got.Room, ok, err, want)
		}
	}
	if got, ok, err := rules(t, "sale shop.test/sale").Find("shop.test", "/"); ok || err != nil {
		t.Errorf("an address without a rule belongs to %q, %v", got.Room, err)
	}
}

func TestNew_RefusesWhatNothingTellsApart(t *testing.T) {
	t.Parallel()
	for name, entries := range map[string][]match.Entry{
		"one address, two rooms": {{"a", match.Rule{Host: "h", Path: "/x"}}, {"b", match.Rule{Host: "h", Path: "/X/"}}},
		"a path without a slash": {{"a", match.Rule{Host: "h", Path: "x"}}},
		"no host":                {{"a", match.Rule{Path: "/x"}}},
		"a star in the middle":   {{"a", match.Rule{Host: "a.*.b", Path: "/x"}}},
		"upper case":             {{"a", match.Rule{Host: "H", Path: "/x"}}},
	} {
		if _, err := match.New(entries); !errors.Is(err, match.ErrRule) {
			t.Errorf("%s: %v, want ErrRule", name, err)
		}
	}
}

// TestWR18_NoSpellingLeadsPastARoom: what a shop's router may take for one page.
func TestWR18_NoSpellingLeadsPastARoom(t *testing.T) {
	t.Parallel()
	m := rules(t, "sale shop.test/Black-Friday-Sale")
	for _, spelling := range []string{
		"/Black-Friday-Sale", "/black-friday-sale", "/Black-Friday-Sale/", "//Black-Friday-Sale", "/x/../Black-Friday-Sale",
		"/%42lack-Friday-Sale", "/Black-Friday-Sale;v=1", "/Black-Friday-Sale%2f", "/Black-Friday-Sale%2fx", "/.//Black-Friday-Sale",
		"/BLACK-FRIDAY-SALE/x", `\Black-Friday-Sale`, "/%2542lack-Friday-Sale", "/Black-Friday-Sale%20", "/Black-Friday-Sale.", "/x;y/../Black-Friday-Sale",
		"/Black-Friday-Sale?x=1", "http://shop.test/Black-Friday-Sale", "/blac\u212A-friday-sale", "/Black-Friday-Sale%3b", "/Black-Friday-Sale%23x",
	} {
		if got, ok, err := m.Find("shop.test", spelling); err == nil && (!ok || got.Room != "sale") {
			t.Errorf("%q leads past the room", spelling)
		}
	}
}

func TestExemption(t *testing.T) {
	t.Parallel()
	e := match.Exemption{Methods: []string{"OPTIONS"}, Paths: []string{"/Sale/Health"}, Assets: true}
	page := match.Fetch{Mode: "navigate", Dest: "document"}
	for _, c := range []struct {
		method, path string
		fetch        match.Fetch
		want         bool
	}{
		{"OPTIONS", "/sale", match.Fetch{}, true}, {"GET", "/sale", match.Fetch{}, false}, {"GET", "/sale/health/x", match.Fetch{}, true},
		{"GET", "/sale/healthy", match.Fetch{}, false}, {"GET", "/favicon.ico", page, true}, {"GET", "/.well-known/security.txt", page, true},
		{"GET", "/sale/a.CSS", match.Fetch{}, true}, {"GET", "/sale/a.css", page, false}, {"POST", "/sale/a.css", match.Fetch{}, false},
		{"GET", "/sale.css/x", match.Fetch{}, false}, {"HEAD", "/x.woff2", match.Fetch{Mode: "no-cors", Dest: "font"}, true},
		{"GET", "/apple-touch-icon-120x120.png", page, true}, {"GET", "/healthz", match.Fetch{}, true}, {"GET", "/data.json", match.Fetch{}, false},
	} {
		if why, ok := e.Why(c.method, c.path, c.fetch); ok != c.want {
			t.Errorf("%s %s %v: exempt %v (%s), want %v", c.method, c.path, c.fetch, ok, why, c.want)
		}
	}
	if _, ok := (match.Exemption{}).Why("GET", "/a.css", match.Fetch{}); ok {
		t.Error("an asset is exempt where assets are not")
	}
}

func TestExplain_NamesEveryRule(t *testing.T) {
	t.Parallel()
	e, err := rules(t, "sale shop.test/sale", "all shop.test/", "other other.test/").Explain("Shop.Test", "/SALE/x?y")
	if err != nil || !e.OK || e.Found.Room != "sale" || e.Path != "/SALE/x" || len(e.Tried) != 3 {
		t.Fatalf("explained as %+v, %v", e, err)
	}
	for i, want := range []string{"longest path", "another rule", "another host"} {
		if !strings.Contains(e.Tried[i].Why, want) {
			t.Errorf("rule %d of room %s: %q, want %q in it", i, e.Tried[i].Entry.Room, e.Tried[i].Why, want)
		}
	}
}

// respell writes a plain path in another way that means the same to a lenient router.
func respell(path string, r *rand.Rand) string {
	var b strings.Builder
	for i, c := range path {
		raw := string(c)
		switch n := r.IntN(24); {
		case c == '/' && n < 14:
			raw = []string{"//", "/./", "/x/../", ";a=b/", "%2f", `\`, "/../", "/%2e/", "%20/", "./", "/;x/", "%252F", "/x/%2e%2E/", "%3fq/"}[n]
			switch {
			case i == 0 && raw[0] != '/':
				raw = "/"
			case i > 0 && raw == "/../": // above the root there is nothing; elsewhere it leads away
				raw = "/y/../"
			}
		case n < 4:
			raw = escape(raw, 1+r.IntN(3))
		case n < 8:
			raw = string(unicode.SimpleFold(c))
		}
		b.WriteString(raw)
	}
	return b.String() + []string{"", "/", "?a=/../b", ";v=1", "%2f", ".", "%20", "%23x", "/."}[r.IntN(9)]
}

// escape writes s as escapes, that many times over.
func escape(s string, times int) string {
	for range times {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
		s = b.String()
	}
	return s
}

// fuzzRules have every kind of host and case.
func fuzzRules(f *testing.F) *match.Matcher {
	return rules(f, "sale shop.test/Black-Friday-Sale", "vip shop.test/Black-Friday-Sale/vip", "cafe shop.test/Café", "all *.test/", "rest */rest")
}

func FuzzMatch(f *testing.F) {
	for _, s := range []string{"/sale", "/sale/x", "/other", "/Black-Friday-Sale/vip/1", "/Café/x", "/rest", "/a/../sale", "/%73ale", "/sale%", "//", "/x;/../sale", "http://h/sale", "*"} {
		f.Add(s, uint64(1))
	}
	m := fuzzRules(f)
	f.Fuzz(func(t *testing.T, target string, seed uint64) {
		normal, err := match.Normalise(target)
		if err != nil {
			return
		}
		if again, err := match.Normalise(normal); err != nil || again != normal {
			t.Fatalf("Normalise(%q) is %q, and of that %q, %v", target, normal, again, err)
		}
		found, ok, err := m.Find("shop.test", normal)
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsRune(normal, '%') || !utf8.ValidString(normal) || normal == "" {
			return
		}
		other := respell(normal, rand.New(rand.NewPCG(seed, 0)))
		if got, has, err := m.Find("shop.test", other); err == nil && (has != ok || got.Room != found.Room) {
			t.Fatalf("%q belongs to %q, its spelling %q to %q", normal, found.Room, other, got.Room)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	m := rules(b, "sale shop.test/sale", "all *.test/")
	b.ReportAllocs()
	for b.Loop() {
		if _, ok, _ := m.Find("shop.test", "/sale/x?a=1"); !ok {
			b.Fatal("not found")
		}
	}
}
