package gate_test

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/anteroom/anteroom/web/gate"
)

var proxy = netip.MustParseAddr("10.0.0.2")

func trusted(a netip.Addr) bool { return a == proxy }

func question(headers ...string) *http.Request {
	r := &http.Request{Method: "GET", Host: "anteroom", Header: http.Header{}}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func TestOriginal_ReadsEachProxysHeaders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		headers []string
		want    string
	}{
		"traefik":       {[]string{"X-Forwarded-Method", "POST", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "shop.test", "X-Forwarded-Uri", "/a,b?c=1,2"}, "POST https://shop.test/a,b?c=1,2"},
		"original":      {[]string{"X-Original-Method", "PUT", "X-Original-Host", "shop.test", "X-Original-URI", "/a"}, "PUT http://shop.test/a"},
		"whole URL":     {[]string{"X-Original-URL", "https://shop.test:8443/a?b"}, "GET https://shop.test:8443/a?b"},
		"bare URL":      {[]string{"X-Original-URL", "https://shop.test"}, "GET https://shop.test/"},
		"path as URL":   {[]string{"X-Original-URL", "/a?u=http://x"}, "GET http://anteroom/a?u=http://x"},
		"a chain":       {[]string{"X-Forwarded-Proto", "https, http", "X-Forwarded-Host", "shop.test", "X-Forwarded-Uri", "/"}, "GET https://shop.test/"},
		"two hosts":     {[]string{"X-Forwarded-Host", "free.test,shop.test", "X-Forwarded-Uri", "/"}, ""},
		"two families":  {[]string{"X-Original-URL", "https://shop.test/sale", "X-Original-Method", "GET", "X-Forwarded-Uri", "/robots.txt"}, ""},
		"two methods":   {[]string{"X-Original-URL", "https://shop.test/sale", "X-Original-Method", "GET", "X-Forwarded-Method", "OPTIONS"}, "GET https://shop.test/sale"},
		"no method":     {[]string{"X-Forwarded-Uri", "/a"}, "GET http://anteroom/a"},
		"lower case":    {[]string{"X-Forwarded-Method", "post", "X-Forwarded-Uri", "/a"}, "post http://anteroom/a"},
		"no address":    {nil, ""},
		"relative":      {[]string{"X-Forwarded-Uri", "a"}, ""},
		"line end":      {[]string{"X-Forwarded-Uri", "/a\r\nX: y"}, ""},
		"host with at":  {[]string{"X-Forwarded-Uri", "/", "X-Forwarded-Host", "me@shop.test"}, ""},
		"host and path": {[]string{"X-Forwarded-Uri", "/", "X-Forwarded-Host", "shop.test/x"}, ""},
		"scheme":        {[]string{"X-Forwarded-Uri", "/", "X-Forwarded-Proto", "javascript"}, ""},
		"long":          {[]string{"X-Forwarded-Uri", "/" + strings.Repeat("a", 9000)}, ""},
	} {
		got, err := gate.Original(question(c.headers...), proxy, trusted)
		if c.want == "" {
			if !errors.Is(err, gate.ErrForwarded) {
				t.Errorf("%s: %+v, %v; want ErrForwarded", name, got, err)
			}
			continue
		}
		if line := got.Method + " " + got.Site() + got.URI; err != nil || line != c.want {
			t.Errorf("%s: %q, %v; want %q", name, line, err, c.want)
		}
		if _, err := gate.Original(question(c.headers...), netip.MustParseAddr("203.0.113.9"), trusted); !errors.Is(err, gate.ErrPeer) {
			t.Errorf("%s from a stranger: %v, want ErrPeer", name, err)
		}
	}
}

func FuzzForwardedHeaders(f *testing.F) {
	f.Add("POST", "https", "shop.test", "/a?b", "")
	f.Add("get", "http, https", "shop.test:80, x", "//a", "https://x/y")
	f.Add("", "", "", "", "/x")
	f.Add("A B", "ftp", "a@b", "/\r\n", "https://")
	f.Fuzz(func(t *testing.T, method, proto, host, uri, whole string) {
		r := question("X-Forwarded-Method", method, "X-Forwarded-Proto", proto, "X-Forwarded-Host", host, "X-Forwarded-Uri", uri, "X-Original-Url", whole)
		got, err := gate.Original(r, proxy, trusted)
		if err != nil {
			return
		}
		address := got.Site() + got.URI
		if !strings.HasPrefix(got.URI, "/") || strings.ContainsAny(address, "\r\n\x00") || strings.ContainsAny(got.Host, "/\\?#@ ") ||
			got.Scheme != "http" && got.Scheme != "https" || got.Method == "" || strings.ContainsAny(got.Method, " \r\n") {
			t.Fatalf("taken as %q %q", got.Method, address)
		}
		if h := got.HTTP(); h.RequestURI != got.URI || h.Host != got.Host {
			t.Fatalf("as HTTP it is %q %q", h.Host, h.RequestURI)
		}
	})
}
