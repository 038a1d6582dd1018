package web

import (
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/anteroom/anteroom/limit/clientkey"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/web/gate"
)

// Headers of a gate's answer. All of them are always set, so that a proxy that copies them
// overwrites a client's own.
const (
	headerReason   = "Anteroom-Reason"   // why, from gate's closed list
	headerLocation = "Anteroom-Location" // where nginx redirects to
)

// forward answers a proxy's forward authentication. The visitor's request is in headers;
// the body of the question, if one is promised, is never read.
func (s *Server) forward(w http.ResponseWriter, r *http.Request) error {
	leaveBody(w, r)
	proxy := gate.Proxy(r.URL.Query().Get("for"))
	if proxy == "" {
		proxy = gate.Traefik // the final answer suits every proxy that passes it on
	}
	if !proxy.Known() {
		p := errForwarded
		p.Detail = "for is one of nginx, traefik, caddy, haproxy, envoy."
		return p
	}
	asked, err := gate.Original(r, peer(r), s.trusted)
	if err != nil {
		return err
	}
	a := s.Gate.Ask(r.Context(), asked)
	if proxy == gate.Nginx {
		return s.answerNginx(w, a)
	}
	return s.answerFinal(w, a)
}

// envoyPrefix is before the visitor's path in Envoy's question (path_prefix).
const envoyPrefix = "/gate/envoy"

// forwardEnvoy reads Envoy's question: the visitor's own request line and host, with a
// prefix before the path.
func (s *Server) forwardEnvoy(w http.ResponseWriter, r *http.Request) error {
	leaveBody(w, r)
	uri, ok := strings.CutPrefix(r.RequestURI, envoyPrefix)
	if !ok || !strings.HasPrefix(uri, "/") {
		return gate.ErrForwarded
	}
	r = r.Clone(r.Context())
	r.Header.Set("X-Forwarded-Uri", uri)
	r.Header.Set("X-Forwarded-Method", r.Method)
	r.Header.Set("X-Forwarded-Host", r.Host)
	asked, err := gate.Original(r, peer(r), s.trusted)
	if err != nil {
		return err
	}
	return s.answerFinal(w, s.Gate.Ask(r.Context(), asked))
}

// leaveBody answers a question at once that promises a body, as a proxy's copy of a POST
// does, and may never send it. What would follow on the connection cannot be told from that
// body, so the connection ends.
func leaveBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 {
		return
	}
	rc := http.NewResponseController(w)
	_ = rc.EnableFullDuplex()          // or the server reads the body before it answers
	_ = rc.SetReadDeadline(time.Now()) // or waits for it after
	w.Header().Set("Connection", "close")
}

// peer is the address of the one who asks.
func peer(r *http.Request) netip.Addr { return clientkey.Peer(r) }

func (s *Server) trusted(addr netip.Addr) bool { return s.proxies.Trusts(addr) }

// ownHeaders sets every header that the gate owns, empty where it has nothing to say, and the
// pass's cookie.
func (s *Server) ownHeaders(w http.ResponseWriter, a gate.Answer) {
	h := w.Header()
	own := [...]string{"no-store", a.Claims.Visitor, a.Room.Name, string(a.Reason), ""}
	// One array for all values: this is the hottest answer there is. No value has room to grow.
	h["Cache-Control"], h[pass.HeaderVisitor], h[pass.HeaderRoom] = own[0:1:1], own[1:2:2], own[2:3:3]
	h[headerReason], h[headerLocation] = own[3:4:4], own[4:5:5]
	if a.Token != "" {
		http.SetCookie(w, s.passCookie(a))
	}
}

// answerNginx says 2xx, 401 or 403 and the rest in headers, because auth_request knows no
// other statuses: 401 is a redirect to Anteroom-Location, 403 is a call to be refused.
func (s *Server) answerNginx(w http.ResponseWriter, a gate.Answer) error {
	s.ownHeaders(w, a)
	h := w.Header()
	switch a.Outcome {
	case gate.Through:
		w.WriteHeader(http.StatusNoContent)
	case gate.Swap:
		h.Set(headerLocation, a.Request.Again())
		w.WriteHeader(http.StatusUnauthorized)
	case gate.Queue:
		refusal := s.refusal(a)
		h.Set(headerLocation, refusal.Location(a.Request.HTTP(), a.Request.Site()))
		if pass.Redirects(a.Request.HTTP()) {
			w.WriteHeader(http.StatusUnauthorized)
			return nil
		}
		refusal.CORS(h, a.Request.HTTP())
		h.Set("Retry-After", pass.RetryAfter)
		w.WriteHeader(http.StatusForbidden)
	case gate.Bad:
		w.WriteHeader(http.StatusForbidden)
	}
	return nil
}

// answerFinal says what the visitor shall see.
func (s *Server) answerFinal(w http.ResponseWriter, a gate.Answer) error {
	s.ownHeaders(w, a)
	switch a.Outcome {
	case gate.Through:
		w.WriteHeader(http.StatusOK)
	case gate.Swap:
		w.Header().Set("Location", a.Request.Again())
		w.WriteHeader(http.StatusFound)
	case gate.Queue:
		s.refusal(a).Serve(w, a.Request.HTTP(), a.Request.Site())
	case gate.Bad:
		return errPath
	}
	return nil
}

// passCookie carries a pass on the protected site. It adds to the cookies of the site.
func (s *Server) passCookie(a gate.Answer) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure on https: a site on plain http must work
		Name: pass.CookieName(a.Room.Name), Value: a.Token, Path: "/", MaxAge: int(a.CookieLife(time.Now()).Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: a.Request.Scheme == "https",
	}
}

// refusal sends visitors to the room's queue page.
func (s *Server) refusal(a gate.Answer) *pass.Refusal {
	page := *s.PublicURL
	page.Path = "/r/" + a.Room.Name
	refusal, err := pass.NewRefusal(page.String(), a.Room.Targets...)
	if err != nil {
		panic(err) // the public URL was checked at start
	}
	return refusal
}

// redeem swaps a hand-over token for a pass: for origins that check passes themselves.
func (s *Server) redeem(w http.ResponseWriter, r *http.Request) error {
	room, err := s.room(r)
	if err != nil {
		return err
	}
	var body struct {
		Token string `json:"token"`
	}
	if err := readJSON(r, &body); err != nil {
		return err
	}
	token, claims, reason := s.Gate.Redeem(r.Context(), room, body.Token)
	switch reason {
	case gate.Handover:
	case gate.StoreAway:
		return errStore
	default:
		p := errHandover
		p.State = string(reason)
		return p
	}
	return writeJSON(w, http.StatusOK, claimed{Pass: token, ExpiresInS: floorSeconds(time.Until(claims.Expires))})
}

// check tells an origin whether a pass still counts: the online check.
func (s *Server) check(w http.ResponseWriter, r *http.Request) error {
	room, err := s.room(r)
	if err != nil {
		return err
	}
	var body struct {
		Pass string `json:"pass"`
	}
	if err := readJSON(r, &body); err != nil {
		return err
	}
	claims, reason := s.Gate.Check(r.Context(), room, body.Pass)
	out := struct {
		Valid  bool        `json:"valid"`
		Reason gate.Reason `json:"reason"`
		Sub    string      `json:"sub,omitempty"`
	}{reason == gate.HasPass || reason == gate.Offline, reason, claims.Visitor}
	return writeJSON(w, http.StatusOK, out)
}
