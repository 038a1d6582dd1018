//go:build unix

package deploy_test

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/proxytest"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/web/page"
)

// FA-02 and Shown-by: what visitors without a pass see, by proxy. Never a 500.
func TestProxies_LeadVisitorsToTheQueue(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k proxytest.Kind) {
		s := newStand(t, k)
		s.shop.reaches(t, "without a pass", 0, func() {
			for _, uri := range []string{everyByte, "/sale/" + strings.Repeat("%C3%A9", 1000), "/sale?" + strings.Repeat("&", 8000)} {
				res, text := s.do("GET", uri, nil, navigation...)
				s.want("a page", 302, res, text)
				to, err := url.Parse(res.Header.Get("Location"))
				if err != nil || to.Path != "/r/sale" || to.Query().Get("target") != "http://"+s.at+uri {
					t.Errorf("a page leads to %q (target %q), %v", to, to.Query().Get("target"), err)
				}
				res, text = s.do("GET", to.RequestURI(), nil, navigation...)
				s.want("its queue page", 200, res, text)
				if cc := res.Header.Get("Cache-Control"); !strings.Contains(cc, "no-store") || !strings.Contains(text, `id="queue"`) {
					t.Errorf("the queue page is %q %.200s", cc, text)
				}
			}
			res, text := s.do("HEAD", everyByte, nil, navigation...)
			s.want("HEAD", 302, res, text)
			res, text = s.do("GET", everyByte, nil, with(navigation, forged...)...)
			s.want("a page with forged headers", 302, res, text)
			res, text = s.do("POST", "/sale/cart", strings.NewReader("a=1"), with(navigation, "Content-Type", "application/x-www-form-urlencoded", "Referer", "http://"+s.at+"/sale/item?id=7")...)
			s.want("a form", 303, res, text)
			if to := res.Header.Get("Location"); !strings.HasSuffix(to, "/r/sale?target="+url.QueryEscape("http://"+s.at+"/sale/item?id=7")) {
				t.Errorf("a form leads to %q", to)
			}
			for _, method := range []string{"GET", "POST", "HEAD", "DELETE"} {
				res, text = s.do(method, "/sale/api", nil, call...)
				s.want("a call by "+method, 429, res, text)
				wantRefusal(t, method, res, text)
			}
			res, text = s.do("GET", "/sale/api", nil, "Accept", "*/*", "X-Requested-With", "XMLHttpRequest")
			s.want("an XHR", 429, res, text)
			if res.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("an XHR of no other origin gets %v", res.Header)
			}
		})
	})
}

func wantRefusal(t *testing.T, method string, res *http.Response, text string) {
	t.Helper()
	h := res.Header
	if !strings.HasPrefix(h.Get("Content-Type"), "application/problem+json") || h.Get("Retry-After") == "" || !strings.Contains(h.Get("Cache-Control"), "no-store") ||
		h.Get("Access-Control-Allow-Origin") != "https://app.shop.test" || h.Get("Access-Control-Allow-Credentials") != "true" ||
		!strings.Contains(h.Get("Access-Control-Expose-Headers"), "Retry-After") || !strings.Contains(strings.Join(h.Values("Vary"), ","), "Origin") {
		t.Errorf("a call by %s gets %v", method, h)
	}
	if method != "HEAD" && (!strings.Contains(text, `"queue_url":"http`) || !strings.Contains(text, `"status":429`)) {
		t.Errorf("a call by %s gets %s", method, text)
	}
}

// What needs no pass reaches the shop, and what the shop answers is not touched.
func TestProxies_LeaveTheRestAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k proxytest.Kind) {
		s := newStand(t, k)
		for what, r := range map[string]struct {
			method, uri string
			headers     []string
		}{
			"a preflight":        {"OPTIONS", "/sale/api", []string{"Origin", "https://app.shop.test", "Access-Control-Request-Method", "GET"}},
			"a room that is off": {"GET", "/off/x", navigation},
			"no room":            {"GET", "/open", navigation},
			"an exempt file":     {"GET", "/sale/x.css", nil},
		} {
			s.shop.reaches(t, what, 1, func() {
				res, text := s.do(r.method, r.uri, nil, with(r.headers, forged...)...)
				s.want(what, 200, res, text)
				if n := len(res.Header.Values("Set-Cookie")); n != 3 {
					t.Errorf("%s: %d cookies of the shop's three arrived", what, n)
				}
			})
			last, _, _ := s.shop.seen()
			wantNothingForged(t, what, last)
		}
		for _, status := range []string{"401", "403", "404", "429", "500", "503"} {
			res, text := s.do("GET", "/open?status="+status, nil, navigation...)
			if res.Status[:3] != status || text != "shop" || len(res.Header.Values("Set-Cookie")) != 3 {
				t.Errorf("the shop's own %s became %d %.100s", status, res.StatusCode, text)
			}
		}
		s.shop.reaches(t, "nonsense", 0, func() {
			for _, r := range [][2]string{{"GET", "/sale%zz"}, {"GET", "/sale/%c0%af"}, {"A-B", "/sale"}} {
				res, text := s.do(r[0], r[1], nil, navigation...)
				s.want(r[0]+" "+r[1], 400, res, text)
			}
			res, text := s.do("GET", page.StaticPrefix+"nothing.js", nil)
			s.want("a missing file of ours", 404, res, text)
			res, text = s.do("GET", "/v1/rooms/sale", nil)
			s.want("our API", 200, res, text)
		})
	})
}

func wantNothingForged(t *testing.T, what string, at *http.Request) {
	t.Helper()
	for name, values := range at.Header {
		if slices.Contains(values, "forged") {
			t.Errorf("%s: the shop saw the client's %s", what, name)
		}
	}
}

// FA-03, WR-08: with a pass the shop sees the request as it was, and our word only.
func TestProxies_TheShopSeesOurWordOnly(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k proxytest.Kind) {
		s := newStand(t, k)
		token := s.pass()
		for what, headers := range map[string][]string{
			"a cookie": withPass(token), "a header": {pass.HeaderPass, token}, "a bearer": {"Authorization", "Bearer " + token},
		} {
			for _, method := range []string{"GET", "HEAD", "DELETE"} {
				res, text := s.do(method, everyByte, nil, with(headers, forged...)...)
				s.want(what, 200, res, text)
				last, _, _ := s.shop.seen()
				if last.Method != method || last.RequestURI != everyByte || last.Host != s.at {
					t.Errorf("%s: the shop saw %s %s %s", what, last.Method, last.Host, last.RequestURI)
				}
				if last.Header.Get(pass.HeaderVisitor) != visitor || last.Header.Get(pass.HeaderRoom) != "sale" || last.Header.Get(pass.HeaderPass) != "" {
					t.Errorf("%s: the shop saw %v", what, last.Header)
				}
				wantNothingForged(t, what, last)
			}
		}
	})
}

// FA-01: large bodies reach the shop whole, and a promised body that never comes keeps
// nobody who has no pass waiting.
func TestProxies_Bodies(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k proxytest.Kind) {
		s := newStand(t, k)
		const size = 50 << 20
		res, text := s.do("POST", "/sale/upload", strings.NewReader(strings.Repeat("x", size)), withPass(s.pass())...)
		s.want("50 MB with a pass", 200, res, text)
		if _, n, _ := s.shop.seen(); n != size {
			t.Errorf("%d of %d bytes arrived", n, size)
		}
		promises := []string{"Content-Length: 77\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"}
		if k.Name == "caddy" { // answers nobody, in any matter, before it has a small body; the question is ours
			promises = []string{"Content-Length: 3\r\n\r\na=1", "Transfer-Encoding: chunked\r\n\r\n3\r\na=1\r\n0\r\n\r\n"}
		}
		for _, promise := range promises {
			from := time.Now()
			c := s.speak("POST /sale/api HTTP/1.1\r\nHost: " + s.at + "\r\nContent-Type: application/json\r\nAccept: application/json\r\n" + promise)
			res, err := http.ReadResponse(c.Reader, nil)
			if err != nil {
				t.Fatalf("%s: %v", promise, err)
			}
			_ = res.Body.Close()
			if took := time.Since(from); res.StatusCode != 429 || took > 3*time.Second {
				t.Errorf("%s and no body: %d after %s", promise, res.StatusCode, took)
			}
		}
	})
}

// A WebSocket with a pass goes through, both ways.
func TestProxies_Upgrades(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k proxytest.Kind) {
		s := newStand(t, k)
		c := s.speak("GET /sale/live HTTP/1.1\r\nHost: " + s.at + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
			"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nCookie: " + pass.CookieName("sale") + "=" + s.pass() + "\r\n\r\n")
		res, err := http.ReadResponse(c.Reader, nil)
		if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
			t.Fatalf("an upgrade became %v, %v", res, err)
		}
		_, _ = c.WriteString("hello\n")
		_ = c.Flush()
		if line, err := c.ReadString('\n'); line != "shop says hello\n" {
			t.Errorf("the shop said %q, %v", line, err)
		}
	})
}

// The hand-over from another domain ends at the clean address with a cookie, whatever port
// and scheme the proxy itself listens on.
func TestProxies_SwapTheHandover(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k proxytest.Kind) {
		s := newStand(t, k)
		claims, err := pass.Verifier{Keys: s.front.Passes.Keys()}.Verify(t.Context(), s.pass(), "sale", 0)
		if err != nil {
			t.Fatal(err)
		}
		token, _, err := s.front.Passes.SignHandover(claims, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		res, text := s.do("GET", pass.AddHandover(everyByte, token), nil, navigation...)
		s.want("a hand-over", 302, res, text)
		cookies := res.Cookies()
		if to := res.Header.Get("Location"); to != everyByte || len(cookies) != 1 || cookies[0].Name != pass.CookieName("sale") {
			t.Fatalf("it leads to %q with %v", to, cookies)
		}
		res, text = s.do("GET", everyByte, nil, withPass(cookies[0].Value, navigation...)...)
		s.want("the clean address", 200, res, text)
	})
}

// While Anteroom is away the shipped configurations let nobody through, and say so; with
// the one change that each names they let everybody through, and still forge nothing.
func TestProxies_WhileAnteroomIsAway(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k proxytest.Kind) {
		for name, edits := range map[string][]proxytest.Edit{"closed": nil, "open": {k.Open}} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newStand(t, k, edits...)
				token := s.pass()
				// Nonsense opens no gate that is there.
				s.shop.reaches(t, "nonsense", 0, func() { s.do("A-B", "/sale", nil, navigation...) })
				s.front.Close()
				wantAway(t, s, name == "open", token)
			})
		}
	})
}

// An Anteroom that takes connections and says nothing is away too, within seconds.
func TestProxies_WhileAnteroomHangs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k proxytest.Kind) {
		for name, edits := range map[string][]proxytest.Edit{"closed": nil, "open": {k.Open}} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				silent, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = silent.Close() })
				s := &stand{t: t, shop: newShop(t)}
				s.at = k.Start(t, ".", proxytest.Addresses{Anteroom: silent.Addr().String(), Shop: s.shop.Listener.Addr().String()}, edits...)
				from := time.Now()
				wantAway(t, s, name == "open", "none")
				if took := time.Since(from); took > 20*time.Second {
					t.Errorf("three answers took %s", took)
				}
			})
		}
	})
}

func wantAway(t *testing.T, s *stand, open bool, token string) {
	t.Helper()
	status, hits := 503, 0
	if open {
		status, hits = 200, 1
	}
	for what, r := range map[string]struct {
		method  string
		headers []string
	}{"a page": {"GET", navigation}, "a pass": {"GET", withPass(token, navigation...)}, "a form": {"POST", call}} {
		s.shop.reaches(t, what, hits, func() {
			res, text := s.do(r.method, everyByte, strings.NewReader("0123456789"), with(r.headers, forged...)...)
			s.want(what, status, res, text)
			if !open && res.Header.Get("Retry-After") == "" {
				t.Errorf("%s: no Retry-After", what)
			}
		})
		if open {
			last, size, _ := s.shop.seen()
			if last.Method != r.method || last.RequestURI != everyByte || size != 10 {
				t.Errorf("%s: the shop saw %s %s and %d bytes", what, last.Method, last.RequestURI, size)
			}
			wantNothingForged(t, what, last)
		}
	}
}
