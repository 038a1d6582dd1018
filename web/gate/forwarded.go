package gate

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"
)

// Proxy is a program that asks the gate by forward authentication.
type Proxy string

// The proxies whose way to ask is known.
const (
	Nginx   Proxy = "nginx"
	Traefik Proxy = "traefik"
	Caddy   Proxy = "caddy"
	HAProxy Proxy = "haproxy"
	Envoy   Proxy = "envoy"
)

// Known reports whether p is one of the proxies above.
func (p Proxy) Known() bool {
	switch p {
	case Nginx, Traefik, Caddy, HAProxy, Envoy:
		return true
	}
	return false
}

// Errors of Original.
var (
	// ErrPeer means that the one who asks is not a trusted proxy.
	ErrPeer = errors.New("gate: the peer is not one of the trusted proxies")
	// ErrForwarded means that the headers do not say what the visitor asked for.
	ErrForwarded = errors.New("gate: the forwarded headers name no request")
)

// Original reads from a proxy's question what the visitor asked for. The proxy says it in
// X-Forwarded-Method, -Proto, -Host and -Uri, or in X-Original-Method and X-Original-URL
// or -URI; all other headers are the visitor's. They count only from a trusted peer. The
// body is never read.
func Original(r *http.Request, peer netip.Addr, trusted func(netip.Addr) bool) (Request, error) {
	if !trusted(peer) {
		return Request{}, ErrPeer
	}
	o := family(r, "X-Forwarded-")
	if header(r.Header, "X-Original-Uri") != "" || header(r.Header, "X-Original-Url") != "" {
		other := family(r, "X-Original-")
		if whole := header(r.Header, "X-Original-Url"); whole != "" && !other.takeURL(whole) {
			return Request{}, ErrForwarded
		}
		// One of the two is the visitor's own: it must say the same, or it is a try.
		if o.URI != "" && (o.URI != other.URI || o.Method != other.Method) {
			return Request{}, ErrForwarded
		}
		o = other
	}
	return o, o.check()
}

// family reads the headers of one prefix. Methods are compared as they are: a shop may tell
// options from OPTIONS.
func family(r *http.Request, prefix string) Request {
	return Request{
		Method: first(r.Header, r.Method, prefix+"Method"),
		Scheme: strings.ToLower(first(r.Header, "http", prefix+"Proto")),
		Host:   first(r.Header, r.Host, prefix+"Host"),
		URI:    first(r.Header, "", prefix+"Uri"),
		Header: r.Header,
	}
}

// takeURL reads X-Original-URL, which some proxies fill with a path and some with a URL.
func (r *Request) takeURL(whole string) bool {
	scheme, rest, absolute := strings.Cut(whole, "://")
	if !absolute || strings.HasPrefix(whole, "/") {
		r.URI = whole
		return strings.HasPrefix(whole, "/")
	}
	r.Scheme = strings.ToLower(scheme)
	i := strings.IndexAny(rest, "/?#")
	if i < 0 {
		i = len(rest)
	}
	r.Host, r.URI = rest[:i], rest[i:]
	if !strings.HasPrefix(r.URI, "/") {
		r.URI = "/" + r.URI
	}
	return true
}

// check holds the parts to what a request line may have.
func (r *Request) check() error {
	ok := strings.HasPrefix(r.URI, "/") && len(r.URI) <= 8192 && !hasControl(r.URI) &&
		r.Host != "" && len(r.Host) <= 255 && !strings.ContainsAny(r.Host, "/\\?#@, \t") && !hasControl(r.Host) &&
		(r.Scheme == "http" || r.Scheme == "https") && methodLike(r.Method)
	if !ok {
		return ErrForwarded
	}
	return nil
}

func methodLike(m string) bool {
	for i := range len(m) {
		if c := m[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return m != "" && len(m) <= 20
}

// first is the first of the named headers that is given. Of a list of schemes, as a chain of
// proxies makes it, the first is that of the outermost one. A list of hosts is no host.
func first(h http.Header, otherwise string, names ...string) string {
	for _, name := range names {
		v := header(h, name)
		if strings.HasSuffix(name, "Proto") {
			v, _, _ = strings.Cut(v, ",")
		}
		if v = strings.TrimSpace(v); v != "" {
			return v
		}
	}
	return otherwise
}

// header is Header.Get for a name in its canonical form, which is not looked for again.
func header(h http.Header, name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func hasControl(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] == 0x7f {
			return true
		}
	}
	return false
}
