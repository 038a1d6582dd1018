package gate

import (
	"net/http"
	"net/url"
	"strings"
)

// Request is what a visitor asks of a protected site.
type Request struct {
	Method string
	Scheme string // http or https, as browsers see the site
	Host   string // host or host:port
	URI    string // path and query, byte for byte as the visitor sent them
	Header http.Header
}

// Site is the scheme and host of the protected site.
func (r Request) Site() string { return r.Scheme + "://" + r.Host }

// Again is an address at which a browser asks for the same page. A path that begins with
// two slashes, or what browsers take for them, would lead to another host.
func (r Request) Again() string {
	if strings.HasPrefix(r.URI, "//") || strings.HasPrefix(r.URI, `/\`) {
		return r.Site() + r.URI
	}
	return r.URI
}

// HTTP is the request in the form in which package pass looks at one.
func (r Request) HTTP() *http.Request {
	path, query, _ := strings.Cut(r.URI, "?")
	return &http.Request{
		Method: r.Method, Host: r.Host, RequestURI: r.URI, Header: r.Header,
		URL: &url.URL{Path: path, RawQuery: query},
	}
}
