package pass

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
)

// maxTokens bounds the signatures that are checked for one request. Honest browsers show
// two at most: a cookie of this path and one of a path above.
const maxTokens = 4

type contextKey struct{}

// FromContext returns the pass with which a request came through Middleware.
func FromContext(ctx context.Context) (Claims, bool) {
	c, ok := ctx.Value(contextKey{}).(Claims)
	return c, ok
}

// Middleware lets requests with a valid pass (cookie, Anteroom-Pass or bearer header)
// through to the handler, which finds the visitor in FromContext and in the header
// Anteroom-Visitor. Page loads without one are redirected to the queue page; API calls
// get 429 with problem+json that names it.
//
// A page load that brings a hand-over token has it redeemed at Config.AnteroomURL, gets
// the pass as a cookie and is redirected to the same address without the token. That is
// the only cookie that is set, and none is cleared: an answer that comes late must not
// take away the pass that another has just set. The handler never sees a hand-over token.
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
	sliding Verifier
	redeems string // where tokens are redeemed; empty redeems none
}

func newGate(c Config) *gate {
	g := &gate{Config: c}
	if g.Verifier.Keys == nil {
		g.Verifier.Keys = c.Keys
	}
	if g.CookieName == "" {
		g.CookieName = CookieName(c.Room)
	}
	if g.Client == nil {
		g.Client = newClient(redeemTimeout)
	}
	if g.Logger == nil {
		g.Logger = slog.New(slog.DiscardHandler)
	}
	// Validate has seen all of these.
	g.refusal, _ = NewRefusal(c.QueueURL, c.Origins...)
	if c.PublicURL != "" {
		g.site, _ = hostURL("PublicURL", c.PublicURL)
	}
	if c.AnteroomURL != "" {
		host, _ := hostURL("AnteroomURL", c.AnteroomURL)
		g.redeems = endpoint(host, c.Room, "redeem")
	}
	g.sliding = g.Verifier
	g.sliding.Grace = max(g.Verifier.Grace, c.MaxSession)
	return g
}

func (g *gate) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	shown := Shown(r, g.CookieName)
	r, token, found := clean(r)
	if found && g.redeems != "" && Navigates(r) {
		g.swap(w, r, token, shown)
		return
	}
	if g.exempt(r) {
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

// clean is a copy of r without a client's forgeries of our headers and without hand-over
// tokens, and the token that was in its address. The copy is shallow: trailers and path
// values stay shared with the server and the router.
func clean(r *http.Request) (_ *http.Request, token string, found bool) {
	r = r.WithContext(r.Context())
	r.Header = r.Header.Clone()
	StripOwned(r.Header)
	token, found = cutRequest(r)
	return r, token, found
}

func (g *gate) exempt(r *http.Request) bool { return g.Exempt != nil && g.Exempt(r) }

// admitted returns the first valid pass of those shown. A stale one beside it, such as a
// cookie of another path, does no harm.
func (g *gate) admitted(r *http.Request, shown []string) (Claims, bool) {
	if len(shown) == 0 {
		return Claims{}, false
	}
	minimum := g.minimum()
	for _, token := range shown {
		c, err := g.judge(r.Context(), token, minimum)
		if err == nil {
			return c, true
		}
		g.Logger.DebugContext(r.Context(), "pass refused", "room", g.Room, "error", err)
	}
	return Claims{}, false
}

func (g *gate) minimum() int64 {
	if g.MinGeneration == nil {
		return 0
	}
	return g.MinGeneration()
}

// judge checks one pass: by its signature, then online where that is asked for.
func (g *gate) judge(ctx context.Context, token string, minimum int64) (Claims, error) {
	if g.Online == nil {
		return g.Verifier.Verify(ctx, token, g.Room, minimum)
	}
	c, err := g.sliding.Verify(ctx, token, g.Room, minimum)
	if err != nil {
		return Claims{}, err
	}
	valid, err := g.Online.Check(ctx, g.Room, token)
	switch {
	case err != nil && g.OnlineError == OnErrorRefuse:
		return Claims{}, err
	case err != nil:
		g.Logger.DebugContext(ctx, "pass checked offline", "room", g.Room, "error", err)
		return g.Verifier.Verify(ctx, token, g.Room, minimum) // without the grace of a sliding session
	case !valid:
		return Claims{}, ErrEnded
	}
	return c, nil
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
