package pass

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
)

// maxTokens bounds the signatures that are checked for one request. Honest browsers show
// two at most: a cookie of this path and one of a path above.
const maxTokens = 4

// Config is what Middleware needs to know.
type Config struct {
	// Room is the room whose passes are accepted; required.
	Room string
	// Keys are the public keys; required unless Verifier is set.
	Keys Keys
	// Verifier checks the passes. The zero value is one over Keys that accepts any issuer.
	Verifier Verifier
	// QueueURL is the room's queue page, such as https://queue.example/r/sale, or a path
	// such as /r/sale when it is on the same host; required. The page is not itself behind
	// the middleware.
	QueueURL string
	// PublicURL is the site's own scheme and host as browsers see them, such as
	// https://shop.example. Empty takes them from the request: set it behind a proxy
	// that ends TLS.
	PublicURL string
	// Origins are other hosts (host or host:port) whose pages call this site's API. They may
	// read that a call was refused.
	Origins []string
	// CookieName is the cookie that carries the pass. Default CookieName(Room).
	CookieName string
	// MinGeneration, if set, names the oldest generation of the room that is accepted.
	// It is asked for every request that shows a pass.
	MinGeneration func() int64
	// Exempt, if set, lets requests through that need no pass, such as assets and
	// health checks (and Preflight, where a foreign origin calls an API).
	Exempt func(*http.Request) bool
	// Logger gets the reason, at debug level, of each pass that is refused; nil logs
	// nothing. Passes are not logged.
	Logger *slog.Logger
}

// CookieName is the cookie that carries a room's pass.
func CookieName(room string) string { return "anteroom_p_" + room }

// Validate reports every problem of c.
func (c Config) Validate() error {
	var problems []error
	if c.Room == "" {
		problems = append(problems, errors.New("pass: Room is required"))
	}
	if c.Keys == nil && c.Verifier.Keys == nil {
		problems = append(problems, errors.New("pass: Keys or a Verifier with Keys is required"))
	}
	if _, err := queueURL(c.QueueURL); err != nil {
		problems = append(problems, err)
	}
	if c.PublicURL != "" {
		u, err := siteURL("PublicURL", c.PublicURL)
		if err != nil {
			problems = append(problems, err)
		} else if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
			problems = append(problems, errors.New("pass: PublicURL: want scheme and host alone"))
		}
	}
	return errors.Join(problems...)
}

// queueURL parses an absolute URL or a path on the same host. Two slashes would name
// another host, and browsers take a backslash for a slash.
func queueURL(raw string) (*url.URL, error) {
	if !strings.HasPrefix(raw, "/") {
		return siteURL("QueueURL", raw)
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host != "" || strings.HasPrefix(raw, "//") || strings.Contains(raw, `\`) {
		return nil, errors.New("pass: QueueURL: want an absolute http or https URL, or a path")
	}
	return u, nil
}

type contextKey struct{}

// FromContext returns the pass with which a request came through Middleware.
func FromContext(ctx context.Context) (Claims, bool) {
	c, ok := ctx.Value(contextKey{}).(Claims)
	return c, ok
}

// Middleware lets requests with a valid pass (cookie, Anteroom-Pass or bearer header)
// through to the handler, which finds the visitor in FromContext and in the header
// Anteroom-Visitor. Page loads without one are redirected to the queue page; API calls
// get 429 with problem+json that names it. It sets and clears no cookie: an answer that
// comes late must not take away the pass that another has just set.
//
// It panics when c does not Validate: a gate that is set up wrong is not open.
func Middleware(c Config) func(http.Handler) http.Handler {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	g := newGate(c)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.serve(w, r, next) })
	}
}

// gate is a Config with its defaults in place.
type gate struct {
	Config
	refusal *Refusal
	site    string // of PublicURL; empty takes the request's
}

func newGate(c Config) *gate {
	g := &gate{Config: c, site: strings.TrimRight(c.PublicURL, "/")}
	if g.Verifier.Keys == nil {
		g.Verifier.Keys = c.Keys
	}
	if g.CookieName == "" {
		g.CookieName = CookieName(c.Room)
	}
	if g.Logger == nil {
		g.Logger = slog.New(slog.DiscardHandler)
	}
	g.refusal, _ = NewRefusal(c.QueueURL, c.Origins...) // Validate has seen it
	return g
}

func (g *gate) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	shown := Shown(r, g.CookieName)
	// A shallow copy: trailers and path values stay shared with the server and the router.
	r = r.WithContext(r.Context())
	r.Header = r.Header.Clone()
	StripOwned(r.Header)
	if g.Exempt != nil && g.Exempt(r) {
		next.ServeHTTP(w, r)
		return
	}
	claims, ok := g.admitted(r, shown)
	if !ok {
		g.refusal.Serve(w, r, g.siteOf(r))
		return
	}
	r.Header.Set(HeaderVisitor, claims.Visitor)
	r.Header.Set(HeaderRoom, claims.Room)
	next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), contextKey{}, claims)))
}

// admitted returns the first valid pass of those shown. A stale one beside it, such as a
// cookie of another path, does no harm.
func (g *gate) admitted(r *http.Request, shown []string) (Claims, bool) {
	if len(shown) == 0 {
		return Claims{}, false
	}
	minimum := int64(0)
	if g.MinGeneration != nil {
		minimum = g.MinGeneration()
	}
	for _, token := range shown {
		c, err := g.Verifier.Verify(r.Context(), token, g.Room, minimum)
		if err == nil {
			return c, true
		}
		g.Logger.DebugContext(r.Context(), "pass refused", "room", g.Room, "error", err)
	}
	return Claims{}, false
}

// Shown are the passes that a request shows, the most deliberate first: header, bearer,
// then the cookies of that name. There are four at most.
func Shown(r *http.Request, cookie string) []string {
	var shown []string
	if t := r.Header.Get(HeaderPass); t != "" {
		shown = append(shown, t)
	}
	scheme, t, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if t = strings.TrimSpace(t); t != "" && strings.EqualFold(scheme, "Bearer") {
		shown = append(shown, t)
	}
	for _, c := range r.CookiesNamed(cookie) {
		shown = append(shown, c.Value)
	}
	return shown[:min(len(shown), maxTokens)]
}
