package pass_test

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/pass"
)

const queuePage = "https://queue.test/r/sale"

// shop counts what gets through and keeps the last request.
type shop struct {
	seen   *http.Request
	claims pass.Claims
}

func (s *shop) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	s.seen = r
	s.claims, _ = pass.FromContext(r.Context())
}

// gated is a shop behind the middleware with the changes that a test needs.
func gated(signer *pass.Signer, change func(*pass.Config)) (*shop, http.Handler) {
	c := pass.Config{Room: "sale", Verifier: at(signer, noon), QueueURL: queuePage}
	if change != nil {
		change(&c)
	}
	s := &shop{}
	return s, pass.Middleware(c)(s)
}

func sign(t testing.TB, s *pass.Signer, room string, generation int64, expires time.Time) string {
	t.Helper()
	token, _, err := s.Sign(room, "visitor-1", generation, expires.Add(-time.Minute), expires)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func request(method, url string, header ...string) *http.Request {
	r := httptest.NewRequest(method, url, nil)
	if rest, ok := strings.CutPrefix(url, "http://shop.test"); ok {
		r.RequestURI = rest // as a server sees it
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

func TestMiddleware_Passes(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	good := sign(t, s, "sale", 2, noon.Add(time.Minute))
	old := sign(t, s, "sale", 1, noon.Add(time.Minute))
	late := sign(t, s, "sale", 2, noon.Add(-time.Minute))
	other := sign(t, s, "vip", 2, noon.Add(time.Minute))
	for name, c := range map[string]struct {
		header []string
		in     bool
	}{
		"cookie":                {[]string{"Cookie", "anteroom_p_sale=" + good}, true},
		"bearer":                {[]string{"Authorization", "bearer " + good}, true},
		"header":                {[]string{"Anteroom-Pass", good}, true},
		"stale cookie first":    {[]string{"Cookie", "anteroom_p_sale=" + late + "; anteroom_p_sale=" + good}, true},
		"the shop's own bearer": {[]string{"Authorization", "Bearer shop-token", "Cookie", "anteroom_p_sale=" + good}, true},
		"too many cookies":      {[]string{"Cookie", strings.Repeat("anteroom_p_sale=x; ", 4) + "anteroom_p_sale=" + good}, false},
		"none":                  {nil, false},
		"empty cookie":          {[]string{"Cookie", "anteroom_p_sale="}, false},
		"basic auth":            {[]string{"Authorization", "Basic " + good}, false},
		"expired":               {[]string{"Cookie", "anteroom_p_sale=" + late}, false},
		"before the reset":      {[]string{"Cookie", "anteroom_p_sale=" + old}, false},
		"another room's":        {[]string{"Cookie", "anteroom_p_sale=" + other}, false},
		"another room's cookie": {[]string{"Cookie", "anteroom_p_vip=" + good}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shop, h := gated(s, func(c *pass.Config) { c.MinGeneration = func() int64 { return 2 } })
			w := httptest.NewRecorder()
			h.ServeHTTP(w, request("GET", "http://shop.test/", c.header...))
			if (shop.seen != nil) != c.in || (w.Code == 200) != c.in {
				t.Errorf("reached the shop: %v, status %d; want %v", shop.seen != nil, w.Code, c.in)
			}
			if c.in && (shop.claims.Visitor != "visitor-1" || shop.seen.Header.Get("Anteroom-Visitor") != "visitor-1" || shop.seen.Header.Get("Anteroom-Room") != "sale") {
				t.Errorf("the shop saw %+v and %v", shop.claims, shop.seen.Header)
			}
			if w.Header().Get("Set-Cookie") != "" {
				t.Errorf("a cookie was set: %v", w.Header())
			}
		})
	}
}

func TestMiddleware_WithoutAPass(t *testing.T) {
	t.Parallel()
	const (
		nav    = "Sec-Fetch-Mode"
		chrome = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
		front  = "http://shop.test/"
	)
	s := newSigner(t, newKey(t))
	for name, c := range map[string]struct {
		method, path string
		header       []string
		status       int
		target       string // escaped once
	}{
		"page load":           {"GET", "/p?a=1&b=2&b=3&c=%26%3D%2B+x&empty=&flag", []string{nav, "navigate"}, 302, "http%3A%2F%2Fshop.test%2Fp%3Fa%3D1%26b%3D2%26b%3D3%26c%3D%2526%253D%252B%2Bx%26empty%3D%26flag"},
		"odd spelling":        {"GET", "/%42lack//a/../%2f;v=1?", []string{nav, "navigate"}, 302, "http%3A%2F%2Fshop.test%2F%2542lack%2F%2Fa%2F..%2F%252f%3Bv%3D1%3F"},
		"HEAD":                {"HEAD", "/", []string{nav, "navigate"}, 302, "http%3A%2F%2Fshop.test%2F"},
		"old browser":         {"GET", "/", []string{"Accept", chrome}, 302, "http%3A%2F%2Fshop.test%2F"},
		"in-app browser":      {"GET", "/", []string{nav, "navigate", "X-Requested-With", "com.example.app"}, 302, "http%3A%2F%2Fshop.test%2F"},
		"HTML before JSON":    {"GET", "/", []string{"Accept", "application/json;q=0.5, text/html"}, 302, "http%3A%2F%2Fshop.test%2F"},
		"forged headers":      {"GET", "/", []string{nav, "navigate", "Anteroom-Visitor", "me"}, 302, "http%3A%2F%2Fshop.test%2F"},
		"form post":           {"POST", "/cart", []string{nav, "navigate", "Referer", "http://shop.test/item/7?x=%2F"}, 303, "http%3A%2F%2Fshop.test%2Fitem%2F7%3Fx%3D%252F"},
		"form, old browser":   {"POST", "/cart", []string{"Accept", chrome, "Content-Type", "application/x-www-form-urlencoded"}, 303, "http%3A%2F%2Fshop.test%2F"},
		"upload, old browser": {"POST", "/cart", []string{"Accept", chrome, "Content-Type", "multipart/form-data; boundary=x"}, 303, "http%3A%2F%2Fshop.test%2F"},
		"form from elsewhere": {"POST", "/cart", []string{nav, "navigate", "Referer", "https://evil.test/x"}, 303, "http%3A%2F%2Fshop.test%2F"},
		"look-alike":          {"POST", "/cart", []string{nav, "navigate", "Referer", "http://shop.test.evil.test/x"}, 303, "http%3A%2F%2Fshop.test%2F"},
		"broken Referer":      {"POST", "/cart", []string{nav, "navigate", "Referer", "http://shop.test@evil.test/%zz"}, 303, "http%3A%2F%2Fshop.test%2F"},
		"axios":               {"GET", "/api", []string{"Accept", "application/json, text/plain, */*"}, 429, front},
		"JSON before HTML":    {"GET", "/api", []string{"Accept", "text/html;q=0.5, application/problem+json"}, 429, front},
		"HTML weighed 0":      {"GET", "/api", []string{"Accept", "text/html;q=0, */*"}, 429, front},
		"HTML weighed NaN":    {"GET", "/api", []string{"Accept", "text/html;q=NaN"}, 429, front},
		"curl":                {"GET", "/api", []string{"Accept", "*/*"}, 429, front},
		"nothing":             {"GET", "/api", nil, 429, front},
		"fetch":               {"GET", "/api", []string{nav, "cors", "Accept", chrome, "Referer", "http://shop.test/app"}, 429, "http://shop.test/app"},
		"image":               {"GET", "/a.png", []string{nav, "no-cors"}, 429, front},
		"jQuery":              {"GET", "/api", []string{"Accept", "text/html", "X-Requested-With", "XMLHttpRequest"}, 429, front},
		"fetch of a POST":     {"POST", "/api", []string{nav, "same-origin"}, 429, front},
		"JSON post":           {"POST", "/api", []string{"Accept", chrome, "Content-Type", "application/json"}, 429, front},
		"PUT":                 {"PUT", "/api", []string{"Accept", chrome}, 429, front},
		"preflight":           {"OPTIONS", "/api", []string{nav, "cors", "Origin", "https://app.test", "Access-Control-Request-Method", "PUT"}, 429, front},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shop, h := gated(s, nil)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, request(c.method, "http://shop.test"+c.path, c.header...))
			if shop.seen != nil {
				t.Fatal("the shop was reached without a pass")
			}
			location := ""
			if c.status != 429 {
				location = queuePage + "?target=" + c.target
			}
			if w.Code != c.status || w.Header().Get("Location") != location {
				t.Errorf("answered %d to %q, want %d to %q", w.Code, w.Header().Get("Location"), c.status, location)
			}
			if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Set-Cookie") != "" {
				t.Errorf("headers %v", w.Header())
			}
			if c.status == 429 {
				wantProblem(t, w, c.target)
			}
		})
	}
}

func wantProblem(t *testing.T, w *httptest.ResponseRecorder, target string) {
	t.Helper()
	var p struct {
		Type, Title, Detail string
		Status              int
		QueueURL            string `json:"queue_url"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, p.QueueURL, nil)
	if p.Type != "https://queue.test/problems/waiting-room" || p.Title == "" || p.Detail == "" || p.Status != 429 ||
		!strings.HasPrefix(p.QueueURL, queuePage+"?") || r.FormValue("target") != target {
		t.Errorf("problem %+v, want target %q", p, target)
	}
	if w.Header().Get("Content-Type") != "application/problem+json" || w.Header().Get("Retry-After") != "5" {
		t.Errorf("headers %v", w.Header())
	}
}

func TestMiddleware_TargetIsTheAddressThatTheBrowserAsked(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	for name, c := range map[string]struct {
		public, queue, uri, routed string
		tls                        bool
		want                       string
	}{
		"TLS":                   {"", "", "/a", "/a", true, "https://shop.test/a"},
		"public URL":            {"https://www.shop.test/", "", "/a", "/a", false, "https://www.shop.test/a"},
		"router took a prefix":  {"", "", "/shop/a?b", "/a", false, "http://shop.test/shop/a?b"},
		"absolute form":         {"", "", "http://evil.test/a?b=://c", "/a", false, "http://shop.test/a?b=://c"},
		"absolute, query alone": {"", "", "http://evil.test?b", "/a", false, "http://shop.test/?b"},
		"absolute, host alone":  {"", "", "http://evil.test", "/a", false, "http://shop.test/"},
		"two slashes":           {"", "", "//evil.test/a", "//evil.test/a", false, "http://shop.test//evil.test/a"},
		"not a path":            {"", "", "*", "*", false, "http://shop.test/"},
		"made by hand":          {"", "", "", "/a%2fb", false, "http://shop.test/a%2fb"},
		"queue page with query": {"", queuePage + "?lang=de#top", "/a", "/a", false, "http://shop.test/a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, h := gated(s, func(g *pass.Config) {
				if g.PublicURL = c.public; c.queue != "" {
					g.QueueURL = c.queue
				}
			})
			r := request("GET", "http://shop.test/", "Sec-Fetch-Mode", "navigate")
			r.RequestURI = c.uri
			u, err := r.URL.Parse("http://shop.test/")
			if err != nil {
				t.Fatal(err)
			}
			r.URL = u
			r.URL.Scheme, r.URL.Host = "", ""
			r.URL.Path, r.URL.RawPath = strings.ReplaceAll(c.routed, "%2f", "/"), c.routed
			if c.tls {
				r.TLS = &tls.ConnectionState{}
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			location := w.Header().Get("Location")
			query := httptest.NewRequest(http.MethodGet, location, nil).URL.Query()
			if query.Get("target") != c.want || !strings.HasPrefix(location, queuePage+"?") || strings.Contains(location, "#") {
				t.Errorf("Location %q, want target %q", location, c.want)
			}
			if (query.Get("lang") == "de") != (c.queue != "") {
				t.Errorf("Location %q lost the queue page's own query", location)
			}
		})
	}
}

func TestMiddleware_ForgedHeadersDoNotReachTheShop(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	for name, exempt := range map[string]bool{"with a pass": false, "exempt": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shop, h := gated(s, func(c *pass.Config) { c.Exempt = func(*http.Request) bool { return exempt } })
			r := request("GET", "http://shop.test/", "Cookie", "anteroom_p_sale="+sign(t, s, "sale", 1, noon.Add(time.Minute)))
			names := []string{
				"Anteroom-Visitor", "X-Anteroom-Session", "anteroom_visitor", "ANTEROOM-ROOM",
				"x_anteroom_visitor", "X-Anteroom_Room", "Anteroom.Visitor", "Anteroom-Pass",
			}
			for _, name := range names {
				r.Header[name] = []string{"forged"}
			}
			r.Header["Connection"] = []string{"close, Anteroom-Visitor", "anteroom_room"}
			r.Header["Anterooms"], r.Header["X-Other"] = []string{"kept"}, []string{"kept"}
			h.ServeHTTP(httptest.NewRecorder(), r)
			if shop.seen == nil {
				t.Fatal("the shop was not reached")
			}
			for name, values := range shop.seen.Header {
				if values[0] == "forged" {
					t.Errorf("the shop saw a forged %s", name)
				}
			}
			seen := shop.seen.Header
			if seen.Get("Connection") != "close" || seen.Get("Anterooms") != "kept" || seen.Get("X-Other") != "kept" {
				t.Errorf("the shop saw %v", seen)
			}
			if (seen.Get("Anteroom-Visitor") == "") != exempt || (shop.claims.Visitor == "") != exempt {
				t.Errorf("the shop saw %v and %+v", seen, shop.claims)
			}
			if len(r.Header[names[2]]) == 0 {
				t.Error("the caller's request was changed")
			}
		})
	}
}

func TestMiddleware_OtherCookieAndLog(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	var lines bytes.Buffer
	shop, h := gated(s, func(c *pass.Config) {
		c.CookieName = "p"
		c.Logger = slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	good, late := sign(t, s, "sale", 1, noon.Add(time.Minute)), sign(t, s, "sale", 1, noon.Add(-time.Minute))
	h.ServeHTTP(httptest.NewRecorder(), request("GET", "http://shop.test/", "Cookie", "p="+late+"; p="+good))
	if shop.seen == nil {
		t.Error("the pass in the cookie p was not taken")
	}
	if got := lines.String(); !strings.Contains(got, "pass: expired") || strings.Contains(got, late) {
		t.Errorf("log %q", got)
	}
}

func TestMiddleware_QueuePageOnTheSameHost(t *testing.T) {
	t.Parallel()
	_, h := gated(newSigner(t, newKey(t)), func(c *pass.Config) { c.QueueURL = "/r/sale" })
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request("GET", "http://shop.test/a/?b", "Sec-Fetch-Mode", "navigate"))
	if got := w.Header().Get("Location"); got != "/r/sale?target=http%3A%2F%2Fshop.test%2Fa%2F%3Fb" {
		t.Errorf("Location %q", got)
	}
	w = httptest.NewRecorder()
	h.ServeHTTP(w, request("GET", "http://shop.test/api", "Sec-Fetch-Mode", "cors"))
	if got := w.Body.String(); !strings.Contains(got, `"type":"/problems/waiting-room"`) || !strings.Contains(got, `"queue_url":"/r/sale?target=`) {
		t.Errorf("problem %s", got)
	}
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method string
		header []string
		want   bool
	}{
		"preflight":      {"OPTIONS", []string{"Origin", "https://a.test", "Access-Control-Request-Method", "PUT"}, true},
		"without Origin": {"OPTIONS", []string{"Access-Control-Request-Method", "PUT"}, false},
		"plain OPTIONS":  {"OPTIONS", []string{"Origin", "https://a.test"}, false},
		"said to be one": {"GET", []string{"Origin", "https://a.test", "Access-Control-Request-Method", "PUT", "X-Original-Method", "OPTIONS"}, false},
	} {
		if got := pass.Preflight(request(c.method, "http://shop.test/", c.header...)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestConfig_ValidateNamesEveryProblem(t *testing.T) {
	t.Parallel()
	err := pass.Config{QueueURL: "r/sale", PublicURL: "https://shop.test/path"}.Validate()
	for _, field := range []string{"Room", "Keys", "QueueURL", "PublicURL"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%v does not name %s", err, field)
		}
	}
	for _, page := range []string{"", "r/sale", "//evil.test/r", `/\evil.test/r`, "javascript:alert(1)", "https:///r"} {
		c := pass.Config{Room: "sale", Keys: pass.StaticKeys{}, QueueURL: page}
		if err := c.Validate(); err == nil {
			t.Errorf("QueueURL %q was taken", page)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("Middleware took a configuration that does not validate")
		}
	}()
	pass.Middleware(pass.Config{})
}
