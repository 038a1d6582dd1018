//go:build unix

// Package deploy_test runs the shipped proxy configurations before a small shop.
package deploy_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/anteroom/anteroom/internal/fronttest"
	"github.com/anteroom/anteroom/internal/proxytest"
	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/pass"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// shop notes what reaches it.
type shop struct {
	*httptest.Server
	mu   sync.Mutex
	last *http.Request
	size int
	hits int
}

func newShop(t *testing.T) *shop {
	s := &shop{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		s.mu.Lock()
		s.last, s.size, s.hits = r, int(n), s.hits+1
		s.mu.Unlock()
		for _, name := range []string{"a", "b", "c"} {
			http.SetCookie(w, &http.Cookie{Name: name, Value: "x"})
		}
		_, _ = io.WriteString(w, "shop")
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *shop) seen() (last *http.Request, size, hits int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, s.size, s.hits
}

// stand is a proxy with the shipped configuration between a browser, Anteroom and a shop.
type stand struct {
	t     *testing.T
	at    string
	front *fronttest.Front
	shop  *shop
}

func newStand(t *testing.T, k proxytest.Kind) *stand {
	t.Helper()
	s := &stand{t: t, at: proxytest.FreeAddress(t), shop: newShop(t)}
	// Visitors come to the proxy's address for all of it.
	s.front = fronttest.New(t, redistest.Embedded(t), &url.URL{Scheme: "http", Host: s.at}, `rooms:
  - name: sale
    capacity: 5
    rate: 100/s
    burst: 5
    session: 3s
    targets: [app.shop.test]
    match: [{host: "`+s.at+`", path: /sale}]
  - name: off
    capacity: 5
    rate: 100/s
    enabled: false
    match: [{host: "`+s.at+`", path: /off}]
`)
	k.Start(t, ".", proxytest.Addresses{Listen: s.at, Anteroom: s.front.Listener.Addr().String(), Shop: s.shop.Listener.Addr().String()})
	return s
}

// do makes one request and follows nothing.
func (s *stand) do(method, uri string, body io.Reader, headers ...string) (*http.Response, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.at, body)
	if err != nil {
		s.t.Fatal(err)
	}
	path, query, has := strings.Cut(uri, "?")
	r.URL.Opaque, r.URL.RawQuery, r.URL.ForceQuery = path, query, has
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(r)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, uri, err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res, string(text)
}

func (s *stand) want(what string, status int, res *http.Response, text string) {
	s.t.Helper()
	if res.StatusCode != status {
		s.t.Errorf("%s: status %d, want %d: %.200s", what, res.StatusCode, status, text)
	}
}

var (
	navigation = []string{"Accept", "text/html,*/*;q=0.8", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
	call       = []string{"Accept", "application/json, text/plain, */*", "Sec-Fetch-Mode", "cors", "Origin", "https://app.shop.test"}
)

const everyByte = "/sale/p?a=1&b=2&b=3&c=%26%3D%2B+x&empty=&flag"

func withPass(token string, headers ...string) []string {
	return append(slices.Clone(headers), "Cookie", pass.CookieName("sale")+"="+token)
}

func each(t *testing.T, test func(t *testing.T, k proxytest.Kind)) {
	t.Helper()
	for _, k := range proxytest.All {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			test(t, k)
		})
	}
}

// FA-02 and Shown-by: what visitors see, by proxy. Never a 500.
func TestProxies_LeadVisitorsThroughTheGate(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k proxytest.Kind) {
		s := newStand(t, k)
		res, text := s.do("GET", everyByte, nil, navigation...)
		s.want("a page", 302, res, text)
		to, err := url.Parse(res.Header.Get("Location"))
		if err != nil || to.Path != "/r/sale" || to.Query().Get("target") != "http://"+s.at+everyByte {
			t.Errorf("a page leads to %q (target %q), %v", to, to.Query().Get("target"), err)
		}
		res, text = s.do("HEAD", everyByte, nil, navigation...)
		s.want("HEAD", 302, res, text)
		res, text = s.do("POST", "/sale/cart", strings.NewReader("a=1"), append(slices.Clone(navigation), "Content-Type", "application/x-www-form-urlencoded")...)
		s.want("a form", 303, res, text)
		res, text = s.do("GET", "/sale/api", nil, call...)
		s.want("a call", 429, res, text)
		if !strings.HasPrefix(res.Header.Get("Content-Type"), "application/problem+json") || res.Header.Get("Retry-After") == "" ||
			!strings.Contains(text, `"queue_url":"http`) || res.Header.Get("Access-Control-Allow-Origin") != "https://app.shop.test" {
			t.Errorf("a call gets %v %s", res.Header, text)
		}
		res, text = s.do("OPTIONS", "/sale/api", nil, "Origin", "https://app.shop.test", "Access-Control-Request-Method", "GET")
		s.want("a preflight", 200, res, text)
		res, text = s.do("GET", "/off/x", nil, navigation...)
		s.want("a room that is off", 200, res, text)
		res, text = s.do("GET", "/open", nil, navigation...)
		s.want("no room", 200, res, text)
		res, text = s.do("GET", "/sale%zz", nil, navigation...)
		if res.StatusCode < 400 || res.StatusCode >= 500 {
			t.Errorf("a malformed path: %d %.200s", res.StatusCode, text)
		}
		res, text = s.do("GET", "/r/sale?target=%2Fsale", nil, navigation...)
		s.want("the queue page", 200, res, text)
		if !strings.Contains(text, `id="queue"`) {
			t.Errorf("the queue page is %.200s", text)
		}
	})
}

// FA-03, WR-08, FA-08: with a pass the shop sees the request as it was, and our word only.
func TestProxies_TheShopSeesOurWordOnly(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k proxytest.Kind) {
		s := newStand(t, k)
		token := s.front.Pass("sale", "visitor-00000000000001")
		forged := []string{"Anteroom-Visitor", "forged", "Anteroom-Room", "forged", "X-Anteroom-Visitor", "forged", "x_anteroom_visitor", "forged", "anteroom_visitor", "forged"}
		res, text := s.do("GET", everyByte, nil, withPass(token, forged...)...)
		s.want("a pass", 200, res, text)
		last, _, _ := s.shop.seen()
		if last.RequestURI != everyByte || last.Host != s.at {
			t.Errorf("the shop saw %s %s", last.Host, last.RequestURI)
		}
		if last.Header.Get("Anteroom-Visitor") != "visitor-00000000000001" || last.Header.Get("Anteroom-Room") != "sale" {
			t.Errorf("the shop saw %v", last.Header)
		}
		for _, uri := range []string{everyByte, "/open", "/sale/x.css"} {
			s.do("GET", uri, nil, withPass(token, forged...)...)
			last, _, _ = s.shop.seen()
			for name, values := range last.Header {
				if slices.Contains(values, "forged") {
					t.Errorf("%s: the shop saw the client's %s", uri, name)
				}
			}
		}
		if n := len(res.Header.Values("Set-Cookie")); n < 3 {
			t.Errorf("%d cookies of the shop's three arrived", n)
		}
	})
}

// FA-08: who is active for three times the life of a pass stays in.
func TestProxies_ActivityKeepsAVisitorIn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k proxytest.Kind) {
		s := newStand(t, k)
		token := s.front.Pass("sale", "visitor-00000000000001")
		tick := time.NewTicker(400 * time.Millisecond)
		defer tick.Stop()
		for end := time.Now().Add(9 * time.Second); time.Now().Before(end); <-tick.C {
			if res, text := s.do("GET", "/sale", nil, withPass(token, navigation...)...); res.StatusCode != 200 {
				t.Fatalf("an active visitor is sent to %d %.100s", res.StatusCode, text)
			}
		}
	})
}

// FA-01: large bodies reach the shop whole, and the question about them waits for none.
func TestProxies_LargeUploads(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k proxytest.Kind) {
		s := newStand(t, k)
		const size = 50 << 20
		token := s.front.Pass("sale", "visitor-00000000000001")
		res, text := s.do("POST", "/sale/upload", strings.NewReader(strings.Repeat("x", size)), withPass(token)...)
		s.want("50 MB with a pass", 200, res, text)
		if _, n, _ := s.shop.seen(); n != size {
			t.Errorf("%d of %d bytes arrived", n, size)
		}
	})
}

// While Anteroom is down the shipped configurations let nobody through, and say so.
func TestProxies_AreClosedWhileAnteroomIsDown(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k proxytest.Kind) {
		s := newStand(t, k)
		token := s.front.Pass("sale", "visitor-00000000000001")
		s.front.Close()
		for what, headers := range map[string][]string{"a page": navigation, "a pass": withPass(token, navigation...)} {
			res, text := s.do("GET", "/sale", nil, headers...)
			s.want(what, 503, res, text)
			if res.Header.Get("Retry-After") == "" {
				t.Errorf("%s: no Retry-After", what)
			}
		}
		if _, _, hits := s.shop.seen(); hits != 0 {
			t.Errorf("%d requests reached the shop", hits)
		}
	})
}

// The files of the programs that Debian does not have are YAML with what matters in them.
func TestOtherProxies_FilesAreWhole(t *testing.T) {
	t.Parallel()
	for file, wants := range map[string][]string{
		"traefik/dynamic.yaml": {"http.middlewares.anteroom-gate.forwardAuth.address", "http.routers.shop.middlewares", "http.middlewares.anteroom-gate.forwardAuth.authResponseHeaders"},
		"envoy/envoy.yaml":     {"static_resources.listeners", "static_resources.clusters"},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var root map[string]any
		if err := yaml.Unmarshal(text, &root); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, path := range wants {
			var at any = root
			for name := range strings.SplitSeq(path, ".") {
				m, _ := at.(map[string]any)
				at = m[name]
			}
			if at == nil {
				t.Errorf("%s has no %s", file, path)
			}
		}
	}
	envoy, err := os.ReadFile("envoy/envoy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, must := range []string{"path_prefix: /gate/envoy", "failure_mode_allow: false", "DROP_HEADER"} {
		if !strings.Contains(string(envoy), must) {
			t.Errorf("envoy/envoy.yaml has no %q", must)
		}
	}
}
