//go:build unix

package deploy_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/proxytest"
)

// raw sends bytes to a proxy and returns the status of its answer, 0 for none.
func (s *stand) raw(request string) int {
	s.t.Helper()
	c, err := net.Dial("tcp", s.at)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := c.Write([]byte(request)); err != nil {
		return 0
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// A room protects names; under any other name the shop is not there at all.
func TestProxies_NoOtherNameLeadsToTheShop(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k proxytest.Kind) {
		s := newStand(t, k)
		for _, request := range []string{
			"GET /sale HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n",
			"GET /sale HTTP/1.1\r\nHost: evil.test," + s.at + "\r\nConnection: close\r\n\r\n",
			"GET /sale HTTP/1.0\r\n\r\n",
			"GET http://evil.test/sale HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n",
		} {
			s.shop.reaches(t, request, 0, func() { s.raw(request) })
		}
	})
}

// Many headers are refused or passed on, and the proxy lives.
func TestProxies_SurviveManyHeaders(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k proxytest.Kind) {
		s := newStand(t, k)
		for _, n := range []int{80, 97, 98, 99, 100, 101, 150} {
			for _, name := range []string{"X-%d", "Cookie"} {
				var b strings.Builder
				b.WriteString("GET /sale HTTP/1.1\r\nHost: " + s.at + "\r\nConnection: close\r\n")
				for i := range n {
					header := name
					if strings.Contains(name, "%") {
						header = fmt.Sprintf(name, i)
					}
					b.WriteString(header + ": a=b\r\n")
				}
				s.shop.reaches(t, fmt.Sprint(n, " headers ", name), 0, func() { s.raw(b.String() + "\r\n") })
			}
		}
		if res, text := s.do("GET", "/sale", nil, navigation...); res.StatusCode != 302 {
			t.Errorf("afterwards a page load is answered %d %.100s", res.StatusCode, text)
		}
	})
}

// HTTP/2 by upgrade would go on past the gate, and other headers would ask for other pages.
func TestProxies_PassOnNoOtherWayIn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k proxytest.Kind) {
		s := newStand(t, k)
		res, _ := s.do("GET", "/favicon.ico", nil, "Connection", "Upgrade, HTTP2-Settings", "Upgrade", "h2c", "HTTP2-Settings", "AAMAAABkAAQCAAAAAAIAAAAA",
			"X-Original-URL", "/sale", "X-Rewrite-URL", "/sale", "X-HTTP-Method-Override", "POST")
		if res.StatusCode == http.StatusSwitchingProtocols {
			t.Error("an upgrade to h2c goes through")
		}
		last, _, _ := s.shop.seen()
		if last == nil {
			t.Fatalf("an exempt page is answered %d", res.StatusCode)
		}
		for _, name := range []string{"Upgrade", "Http2-Settings", "X-Original-Url", "X-Rewrite-Url", "X-Http-Method-Override"} {
			if v := last.Header.Get(name); v != "" {
				t.Errorf("the shop saw %s: %s", name, v)
			}
		}
	})
}
