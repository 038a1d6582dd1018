package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/anteroom/anteroom/internal/match"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
	"github.com/anteroom/anteroom/web/gate"
	"github.com/anteroom/anteroom/web/page"
)

// headerRelease is the origin's word, in an answer, that a visitor is done.
const headerRelease = "Anteroom-Release"

// protect is the reverse proxy: requests to the host of a room with an origin reach the
// origin or see the queue page, at the same address. Our own pages and API go on.
func (s *Server) protect(next http.Handler) http.Handler {
	if s.Gate == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := s.originOf(r.Host)
		if origin == "" || s.ownAddress(r) {
			next.ServeHTTP(w, r)
			return
		}
		s.handle(func(w http.ResponseWriter, r *http.Request) error { return s.behind(w, r, origin) })(w, r)
	})
}

// originOf is the site of a host, empty where no room proxies it. A host may have several
// rooms; the first of the rooms file that names an origin has the site.
func (s *Server) originOf(host string) string {
	for _, room := range s.Rooms.All() {
		if room.Origin == "" {
			continue
		}
		for _, rule := range room.Match {
			if match.HostMatches(rule.Host, host) {
				return room.Origin
			}
		}
	}
	return ""
}

// ownAddress tells our pages and API from the site's on a host that both share.
func (s *Server) ownAddress(r *http.Request) bool {
	path := r.URL.Path
	for _, own := range []string{"/r/", "/v1/rooms/", page.StaticPrefix} {
		if strings.HasPrefix(path, own) {
			return true
		}
	}
	if path == "/gate" || strings.HasPrefix(path, envoyPrefix+"/") {
		return s.trusted(peer(r))
	}
	return strings.EqualFold(r.Host, s.PublicURL.Host) && (path == "/.well-known/jwks.json" || path == "/healthz" || path == "/readyz" || strings.HasPrefix(path, "/v1/limits/"))
}

// behind decides about a request of a proxied site.
func (s *Server) behind(w http.ResponseWriter, r *http.Request, origin string) error {
	asked := s.asked(r)
	a := s.Gate.Ask(r.Context(), asked)
	switch a.Outcome {
	case gate.Through:
		return s.forwardTo(w, r, a, origin)
	case gate.Swap:
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		if a.Token != "" {
			http.SetCookie(w, s.passCookie(a))
		}
		h.Set("Location", a.Request.Again()) // byte for byte, which http.Redirect does not keep
		w.WriteHeader(http.StatusFound)
		return nil
	case gate.Bad:
		return errPath
	}
	if !pass.Navigates(r) {
		s.refusal(a).Serve(w, a.Request.HTTP(), a.Request.Site())
		return nil
	}
	if a.Room.QueueStatus == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "30") // for machines; the page asks by itself
	}
	return s.showQueue(w, r, a.Room, a.Request.Site()+a.Request.URI, a.Room.QueueStatus)
}

// asked is the request of a visitor who came to us directly, or through a proxy that we
// trust to say how.
func (s *Server) asked(r *http.Request) gate.Request {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	if p := strings.ToLower(r.Header.Get("X-Forwarded-Proto")); (p == "http" || p == "https") && s.trusted(peer(r)) {
		scheme = p
	}
	return gate.Request{Method: r.Method, Scheme: scheme, Host: r.Host, URI: r.RequestURI, Header: r.Header}
}

// origins are the proxies to the sites behind rooms, by address; bounded by the rooms file.
type origins struct{ byURL sync.Map }

type askedKey struct{}

// forwardTo sends a request on. Bodies and answers stream, so the server's time limits for
// a request do not apply; the origin has its own.
func (s *Server) forwardTo(w http.ResponseWriter, r *http.Request, a gate.Answer, origin string) error {
	v, ok := s.origins.byURL.Load(origin)
	if !ok {
		u, err := url.Parse(origin)
		if err != nil {
			return err // the rooms file was checked
		}
		v, _ = s.origins.byURL.LoadOrStore(origin, s.proxyTo(u))
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Time{})
	_ = rc.SetWriteDeadline(time.Time{})
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &moving{r.Body, rc}
	}
	failed := new(error)
	ctx := context.WithValue(r.Context(), askedKey{}, proxied{a, failed})
	v.(*httputil.ReverseProxy).ServeHTTP(w, r.WithContext(ctx))
	return *failed
}

// bodyIdle is how long an upload may stand still.
const bodyIdle = 30 * time.Second

// moving is a body whose time limit moves with each part that arrives: a large upload may
// take its time, and a connection that sends nothing is not kept.
type moving struct {
	io.ReadCloser
	rc *http.ResponseController
}

func (m *moving) Read(p []byte) (int, error) {
	_ = m.rc.SetReadDeadline(time.Now().Add(bodyIdle))
	n, err := m.ReadCloser.Read(p)
	if err == io.EOF {
		_ = m.rc.SetReadDeadline(time.Time{}) // what follows is an answer, and may stream
	}
	return n, err
}

// proxied is what the parts of the proxy know of a request.
type proxied struct {
	answer gate.Answer
	failed *error
}

func (s *Server) proxyTo(origin *url.URL) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite:        func(p *httputil.ProxyRequest) { s.rewrite(p, origin) },
		ModifyResponse: s.modify,
		ErrorHandler: func(_ http.ResponseWriter, r *http.Request, err error) {
			of := r.Context().Value(askedKey{}).(proxied)
			if r.Context().Err() != nil {
				*of.failed = context.Cause(r.Context())
				return
			}
			s.Log.Warn("the origin does not answer", "room", of.answer.Room.Name, "origin", origin.Redacted(), "error", err)
			*of.failed = errOrigin
		},
		FlushInterval: -1, // events reach the browser as the origin writes them
		Transport: &http.Transport{
			DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			MaxIdleConnsPerHost:   256,
			MaxConnsPerHost:       4096,
			IdleConnTimeout:       90 * time.Second,
			TLSHandshakeTimeout:   5 * time.Second,
			ResponseHeaderTimeout: 60 * time.Second,
			ExpectContinueTimeout: time.Second,
		},
	}
}

// overrides are headers by which some frameworks let a client ask for another page, method or
// protocol than the one that the gate was asked about.
var overrides = []string{
	"Http2-Settings", "X-Original-Url", "X-Original-Uri", "X-Rewrite-Url", "X-Http-Method", "X-Http-Method-Override", "X-Method-Override",
}

// rewrite keeps path, query and Host as the visitor sent them. Of our headers the origin
// sees our own values only, and of X-Forwarded-* a chain only from proxies that we trust.
func (s *Server) rewrite(p *httputil.ProxyRequest, origin *url.URL) {
	of := p.In.Context().Value(askedKey{}).(proxied)
	p.SetURL(origin)
	p.Out.Host = p.In.Host
	uri, _, _ := strings.Cut(of.answer.Request.URI, "#")
	_, p.Out.URL.RawQuery, p.Out.URL.ForceQuery = strings.Cut(uri, "?")
	if s.trusted(peer(p.In)) {
		p.Out.Header["X-Forwarded-For"] = p.In.Header["X-Forwarded-For"]
	}
	p.SetXForwarded()
	p.Out.Header.Set("X-Forwarded-Proto", of.answer.Request.Scheme)
	// What follows an upgrade is not asked about: only WebSockets are tunnelled, or a client
	// could go on in HTTP/2 past the gate.
	if !strings.EqualFold(p.Out.Header.Get("Upgrade"), "websocket") {
		p.Out.Header.Del("Upgrade")
		p.Out.Header.Del("Connection")
	}
	for _, name := range overrides {
		p.Out.Header.Del(name)
	}
	pass.StripOwned(p.Out.Header)
	if of.answer.Claims.Visitor != "" {
		p.Out.Header.Set(pass.HeaderVisitor, of.answer.Claims.Visitor)
		p.Out.Header.Set(pass.HeaderRoom, of.answer.Room.Name)
	}
}

// modify carries the origin's release out, and adds the visitor's renewed pass to answers
// that no cache may keep.
func (s *Server) modify(r *http.Response) error {
	of := r.Request.Context().Value(askedKey{}).(proxied)
	release := r.Header.Get(headerRelease) == "1"
	pass.StripOwned(r.Header)
	switch {
	case release && of.answer.Claims.Visitor != "":
		s.releaseSlot(r.Request.Context(), of.answer)
	case of.answer.Token != "" && personal(r.Header):
		r.Header.Add("Set-Cookie", s.passCookie(of.answer).String())
		if r.Header.Get("Cache-Control") == "" {
			r.Header.Set("Cache-Control", "private")
		}
	}
	return nil
}

// releaseSlot frees the slot of a visitor who is done, also when the visitor goes away.
func (s *Server) releaseSlot(ctx context.Context, a gate.Answer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.StoreTimeout)
	defer cancel()
	s.Gate.End(a)
	if _, err := s.Line.Release(ctx, a.Room.Queue(), queue.ID(a.Claims.Visitor)); err != nil {
		s.Log.Warn("a release by the origin did not reach the line", "room", a.Room.Name, "error", err)
	}
}

// personal reports whether no shared cache may hand an answer to others (RFC 9111, section
// 3): a renewed pass may go with it. Renewal does not depend on any one answer.
func personal(h http.Header) bool {
	cc := strings.ToLower(strings.Join(h.Values("Cache-Control"), ","))
	if cc == "" {
		return h.Get("Expires") == ""
	}
	return strings.Contains(cc, "private") || strings.Contains(cc, "no-store")
}
