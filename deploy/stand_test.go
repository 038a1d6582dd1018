//go:build unix

// Package deploy_test runs the shipped proxy configurations before a small shop.
package deploy_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/fronttest"
	"github.com/anteroom/anteroom/internal/proxytest"
	"github.com/anteroom/anteroom/internal/redistest"
	"github.com/anteroom/anteroom/pass"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// shop notes what reaches it. It answers 200 and three cookies, the status that ?status
// asks for, with ?public an answer that caches may keep, and an upgrade with an echo.
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
		if r.Header.Get("Upgrade") != "" {
			echo(w)
			return
		}
		for _, name := range []string{"a", "b", "c"} {
			http.SetCookie(w, &http.Cookie{Name: name, Value: "x"})
		}
		if r.URL.Query().Has("public") {
			w.Header().Set("Cache-Control", "public, max-age=43200")
		}
		if status, err := strconv.Atoi(r.URL.Query().Get("status")); err == nil {
			w.WriteHeader(status)
		}
		_, _ = io.WriteString(w, "shop")
	}))
	t.Cleanup(s.Close)
	return s
}

// echo takes the connection over and sends back one line.
func echo(w http.ResponseWriter) {
	c, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = c.Close() }()
	// The key and its answer are those of RFC 6455, section 1.3.
	_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n")
	_ = rw.Flush()
	line, _ := rw.ReadString('\n')
	_, _ = rw.WriteString("shop says " + line)
	_ = rw.Flush()
}

func (s *shop) seen() (last *http.Request, size, hits int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, s.size, s.hits
}

// reaches runs what must lead to so many requests at the shop.
func (s *shop) reaches(t *testing.T, what string, want int, do func()) {
	t.Helper()
	_, _, before := s.seen()
	do()
	if _, _, after := s.seen(); after-before != want {
		t.Errorf("%s: %d requests reached the shop, want %d", what, after-before, want)
	}
}

// stand is a proxy with the shipped configuration between a browser, Anteroom and a shop.
type stand struct {
	t     *testing.T
	at    string
	front *fronttest.Front
	shop  *shop
}

func newStand(t *testing.T, k proxytest.Kind, edits ...proxytest.Edit) *stand {
	t.Helper()
	s := &stand{t: t, at: proxytest.FreeAddress(t), shop: newShop(t)}
	// Visitors come to the proxy's address for all of it.
	s.front = fronttest.New(t, redistest.Embedded(t), &url.URL{Scheme: "http", Host: s.at}, `rooms:
  - name: sale
    capacity: 5
    rate: 100/s
    burst: 5
    session: 2m
    targets: [app.shop.test]
    match: [{host: "`+s.at+`", path: /sale}]
  - name: off
    capacity: 5
    rate: 100/s
    enabled: false
    match: [{host: "`+s.at+`", path: /off}]
`)
	k.Start(t, ".", proxytest.Addresses{Listen: s.at, Anteroom: s.front.Listener.Addr().String(), Shop: s.shop.Listener.Addr().String()}, edits...)
	return s
}

func (s *stand) pass() string {
	s.t.Helper()
	return s.front.Pass("sale", visitor)
}

// do makes one request and follows nothing.
func (s *stand) do(method, uri string, body io.Reader, headers ...string) (*http.Response, string) {
	s.t.Helper()
	return do(s.t, s.at, method, uri, body, headers...)
}

func do(t *testing.T, at, method, uri string, body io.Reader, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+at, body)
	if err != nil {
		t.Fatal(err)
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
		t.Fatalf("%s %s: %v", method, uri, err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

// speak writes bytes to the proxy and returns the connection, with a deadline.
func (s *stand) speak(text string) *bufio.ReadWriter {
	s.t.Helper()
	c, err := net.DialTimeout("tcp", s.at, 5*time.Second)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(c, text); err != nil {
		s.t.Fatal(err)
	}
	return bufio.NewReadWriter(bufio.NewReader(c), bufio.NewWriter(c))
}

func (s *stand) want(what string, status int, res *http.Response, text string) {
	s.t.Helper()
	if res.StatusCode != status {
		s.t.Errorf("%s: status %d, want %d: %.200s", what, res.StatusCode, status, text)
	}
}

const (
	visitor   = "visitor-00000000000001"
	everyByte = "/sale/p?a=1&b=2&b=3&c=%26%3D%2B+x&empty=&flag"
)

var (
	navigation = []string{"Accept", "text/html,*/*;q=0.8", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
	call       = []string{"Accept", "application/json, text/plain, */*", "Sec-Fetch-Mode", "cors", "Origin", "https://app.shop.test"}
	forged     = []string{
		"Anteroom-Visitor", "forged", "Anteroom-Room", "forged", "Anteroom-Reason", "forged",
		"X-Anteroom-Visitor", "forged", "X-Anteroom-Room", "forged", "x_anteroom_visitor", "forged", "anteroom_visitor", "forged",
		"X-Anteroom_Visitor", "forged", "X_Anteroom-Room", "forged", "Anteroom_Room", "forged",
		"X-Original-Method", "OPTIONS", "X-Original-Uri", "/open", "X-Original-Url", "/open", "X-Original-Host", "open.test",
		"X-Forwarded-Method", "OPTIONS", "X-Forwarded-Uri", "/open", "X-Forwarded-Host", "open.test",
	}
)

func with(headers []string, more ...string) []string { return append(slices.Clone(headers), more...) }

func withPass(token string, headers ...string) []string {
	return with(headers, "Cookie", pass.CookieName("sale")+"="+token)
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
