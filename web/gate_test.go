package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/anteroom/anteroom/internal/fronttest"
	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
)

// seen is a request as the shop got it.
type seen struct {
	method, uri, host string
	header            http.Header
	body              []byte
}

// shop is the site behind the gate. It remembers what reaches it.
type shop struct {
	*httptest.Server
	mu     sync.Mutex
	seen   []seen
	answer http.HandlerFunc // after the request was noted; nil = 200
}

func newShop(t *testing.T) *shop {
	s := &shop{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.seen = append(s.seen, seen{r.Method, r.RequestURI, r.Host, r.Header, body})
		answer := s.answer
		s.mu.Unlock()
		if answer != nil {
			answer(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *shop) does(h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = h
}

// last is the latest request that reached the shop; all is how many did.
func (s *shop) last() (last seen, all int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) > 0 {
		last = s.seen[len(s.seen)-1]
	}
	return last, len(s.seen)
}

// site is Anteroom over real sockets before a shop: it proxies shop.test, and is asked by
// /gate for plain.test, another domain than its own queue.test.
type site struct {
	*fronttest.Front
	t    *testing.T
	shop *shop
	room rooms.Room
}

func newSite(t *testing.T, fields string) *site {
	t.Helper()
	s := &site{t: t, shop: newShop(t)}
	s.Front = fronttest.New(t, redistest.Embedded(t), &url.URL{Scheme: "https", Host: "queue.test"},
		"rooms:\n  - name: sale\n    capacity: 5\n    rate: 100/s\n    burst: 5\n    origin: "+s.shop.URL+
			"\n    targets: [app.shop.test]\n    default_target: https://shop.test/start\n    match: [{host: shop.test, path: /sale}, {host: plain.test}]\n"+fields)
	s.room, _ = s.Rooms.Get("sale")
	return s
}

// answer is a response with its body read.
type answer struct {
	*http.Response
	text string
}

// send makes one request and follows nothing. Headers are pairs; Host counts.
func (s *site) send(client *http.Client, method, host, uri, body string, headers ...string) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.URL, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	path, query, has := strings.Cut(uri, "?")
	r.URL.Opaque, r.URL.RawQuery, r.URL.ForceQuery = path, query, has
	r.Host = host
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	if client == nil {
		client = &http.Client{}
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{res, string(text)}
}

// navigation is what a browser says of a page load.
var navigation = []string{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}

func with(token string, headers ...string) []string {
	return append(headers, "Cookie", pass.CookieName("sale")+"="+token)
}

func (s *site) want(what string, a answer, status int) answer {
	s.t.Helper()
	if a.StatusCode != status {
		s.t.Errorf("%s: status %d, want %d: %.300s", what, a.StatusCode, status, a.text)
	}
	return a
}

// ask is a proxy's question about a request to plain.test.
func (s *site) ask(proxy, uri string, headers ...string) answer {
	return s.send(nil, "GET", "127.0.0.1", "/gate?for="+proxy, "", append(headers,
		"X-Forwarded-Uri", uri, "X-Forwarded-Host", "plain.test", "X-Forwarded-Proto", "https")...)
}

const everyByte = "/sale/p?a=1&b=2&b=3&c=%26%3D%2B+x&empty=&flag"

func targetOf(t *testing.T, location string) string {
	t.Helper()
	u, err := url.Parse(location)
	if err != nil || u.Path != "/r/sale" || u.Host != "queue.test" {
		t.Fatalf("location %q, %v; want the queue page", location, err)
	}
	return u.Query().Get("target")
}

// FA-02, WR-17: each proxy gets what it can use, each kind of client what it can read.
func TestForward_AnswersByProxyAndByClient(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	call := []string{"Accept", "application/json, text/plain, */*", "Sec-Fetch-Mode", "cors", "Origin", "https://app.shop.test"}
	for _, proxy := range []string{"traefik", "caddy", "haproxy"} {
		a := s.want(proxy+": a page", s.ask(proxy, everyByte, navigation...), 302)
		if to := targetOf(t, a.Header.Get("Location")); to != "https://plain.test"+everyByte {
			t.Errorf("%s: the way back is %q", proxy, to)
		}
		a = s.want(proxy+": a call", s.ask(proxy, "/api", call...), 429)
		if a.Header.Get("Content-Type") != "application/problem+json" || a.Header.Get("Retry-After") == "" || !strings.Contains(a.text, `"queue_url"`) ||
			a.Header.Get("Access-Control-Allow-Origin") != "https://app.shop.test" || a.Header.Get("Access-Control-Expose-Headers") == "" {
			t.Errorf("%s: a call is answered %v %s", proxy, a.Header, a.text)
		}
		s.want(proxy+": a pass", s.ask(proxy, everyByte, with(s.passOnce(proxy))...), 200)
	}
	a := s.want("nginx: a page", s.ask("nginx", everyByte, navigation...), 401)
	if to := targetOf(t, a.Header.Get("Anteroom-Location")); to != "https://plain.test"+everyByte {
		t.Errorf("nginx: the way back is %q", to)
	}
	s.want("nginx: a call", s.ask("nginx", "/api", call...), 403)
	s.want("nginx: a pass", s.ask("nginx", "/", with(s.passOnce("nginx"))...), 204)
	s.want("an unknown proxy", s.ask("apache", "/"), 400)
	a = s.want("envoy: a page", s.send(nil, "GET", "plain.test", "/gate/envoy"+everyByte, "", navigation...), 302)
	if to := targetOf(t, a.Header.Get("Location")); to != "http://plain.test"+everyByte {
		t.Errorf("envoy: the way back is %q", to)
	}
	s.want("envoy: a POST with a pass", s.send(nil, "POST", "plain.test", "/gate/envoy/x", "", with(s.passOnce("envoy"))...), 200)
}

func (s *site) passOnce(name string) string {
	return s.Pass("sale", queue.ID(name+strings.Repeat("-", 22-len(name))))
}

// FA-03: every header that we own is always set, so that a proxy's copy overwrites.
func TestFA03_OwnedHeadersAreAlwaysSet(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	token := s.passOnce("visitor")
	for what, headers := range map[string][]string{
		"no pass": {"Anteroom-Visitor", "forged", "X-Anteroom-Visitor", "admin"}, "a pass": with(token, "Anteroom-Visitor", "forged"),
	} {
		a := s.ask("traefik", "/", headers...)
		want := map[string]string{"no pass": "", "a pass": "visitor---------------"}[what]
		for _, name := range []string{"Anteroom-Visitor", "Anteroom-Room", "Anteroom-Reason", "Anteroom-Location"} {
			if len(a.Header.Values(name)) != 1 {
				t.Errorf("%s: %s is set %d times, want once", what, name, len(a.Header.Values(name)))
			}
		}
		if got := a.Header.Get("Anteroom-Visitor"); got != want {
			t.Errorf("%s: Anteroom-Visitor is %q, want %q", what, got, want)
		}
	}
	s.send(nil, "GET", "shop.test", "/sale", "", with(token, "Anteroom-Visitor", "forged", "X-Anteroom-Room", "admin", "X_Anteroom_Visitor", "x")...)
	last, _ := s.shop.last()
	if last.header.Get("Anteroom-Visitor") != "visitor---------------" || last.header.Get("X-Anteroom-Room") != "" || last.header.Get("X_Anteroom_Visitor") != "" {
		t.Errorf("the shop saw %v", last.header)
	}
	s.send(nil, "GET", "shop.test", "/open", "", "Anteroom-Visitor", "forged")
	if last, _ = s.shop.last(); last.uri != "/open" || last.header.Get("Anteroom-Visitor") != "" {
		t.Errorf("on an open path the shop saw %s %v", last.uri, last.header)
	}
}

// FA-05: methods count from trusted peers only; a preflight passes, a bare OPTIONS does not.
func TestFA05_MethodsAndPreflights(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	s.want("HEAD", s.ask("traefik", "/", append(navigation, "X-Forwarded-Method", "HEAD")...), 302)
	s.want("lower case", s.ask("traefik", "/", append(navigation, "X-Forwarded-Method", "get")...), 429)
	s.want("a preflight that is none", s.ask("traefik", "/", "X-Forwarded-Method", "options", "Origin", "https://app.shop.test", "Access-Control-Request-Method", "GET"), 429)
	preflight := []string{"X-Forwarded-Method", "OPTIONS", "Origin", "https://app.shop.test", "Access-Control-Request-Method", "GET"}
	s.want("a preflight", s.ask("traefik", "/", preflight...), 200)
	s.want("OPTIONS without an Origin", s.ask("traefik", "/", "X-Forwarded-Method", "OPTIONS"), 429)
	s.want("a method that is none", s.ask("traefik", "/", "X-Forwarded-Method", "GET /x"), 400)
	s.want("a direct client's word", s.send(nil, "GET", "shop.test", "/sale", "", append(navigation, "X-Original-Method", "OPTIONS", "X-Forwarded-Method", "OPTIONS")...), 200)
	if _, n := s.shop.last(); n != 0 {
		t.Error("a forged method led past the gate")
	}
	s.want("no address", s.send(nil, "GET", "127.0.0.1", "/gate", ""), 400)
}
