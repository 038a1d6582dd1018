package pass

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// Gate is what Middleware needs to know.
type Gate struct {
	// Room is the room whose passes are accepted; required.
	Room string
	// Verifier checks them; required.
	Verifier Verifier
	// QueueURL is the room's queue page, such as https://queue.example/r/sale; required.
	QueueURL string
	// PublicURL is the site's own scheme and host, such as https://shop.example. Empty
	// takes them from the request.
	PublicURL string
	// MinGeneration, if set, refuses passes from before a reset.
	MinGeneration func() int64
	// Exempt, if set, lets requests through that need no pass, such as assets.
	Exempt func(*http.Request) bool
}

// CookieName is the cookie that carries a room's pass.
func CookieName(room string) string { return "anteroom_p_" + room }

// Header names that the middleware owns: a client's own copies never reach the handler.
const (
	HeaderVisitor = "Anteroom-Visitor"
	HeaderRoom    = "Anteroom-Room"
	HeaderPass    = "Anteroom-Pass" //nolint:gosec // a header's name, not a credential
)

type contextKey struct{}

// FromContext returns the pass with which a request came through Middleware.
func FromContext(ctx context.Context) (Claims, bool) {
	c, ok := ctx.Value(contextKey{}).(Claims)
	return c, ok
}

// Middleware lets requests with a valid pass (cookie, Anteroom-Pass or bearer header)
// through to the handler, which finds the visitor in FromContext and in the header
// Anteroom-Visitor. Page loads without one are redirected to the queue page; API calls
// get 429 with problem+json that names it. It never clears a cookie.
func Middleware(g Gate) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			claims, ok := g.admitted(r)
			r = r.Clone(r.Context())
			stripOwned(r.Header)
			switch {
			case ok:
				r.Header.Set(HeaderVisitor, claims.Visitor)
				r.Header.Set(HeaderRoom, claims.Room)
				next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), contextKey{}, claims)))
			case g.Exempt != nil && g.Exempt(r):
				next.ServeHTTP(w, r)
			default:
				g.refuse(w, r)
			}
		})
	}
}

func (g Gate) admitted(r *http.Request) (Claims, bool) {
	minimum := int64(0)
	if g.MinGeneration != nil {
		minimum = g.MinGeneration()
	}
	for _, token := range tokens(r, CookieName(g.Room)) {
		if c, err := g.Verifier.Verify(r.Context(), token, g.Room, minimum); err == nil {
			return c, true
		}
	}
	return Claims{}, false
}

// tokens are the passes that a request shows, at most one from each place.
func tokens(r *http.Request, cookie string) []string {
	var found []string
	if t := r.Header.Get(HeaderPass); t != "" {
		found = append(found, t)
	}
	if scheme, t, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		found = append(found, t)
	}
	if c, err := r.Cookie(cookie); err == nil {
		found = append(found, c.Value)
	}
	return found
}

// stripOwned removes every spelling of our headers that a server behind might read.
func stripOwned(h http.Header) {
	for name := range h {
		plain := strings.ReplaceAll(strings.ToLower(name), "_", "-")
		if strings.HasPrefix(plain, "anteroom-") || strings.HasPrefix(plain, "x-anteroom-") {
			delete(h, name)
		}
	}
}

func (g Gate) refuse(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Vary", "Accept, Cookie, Sec-Fetch-Mode, X-Requested-With")
	target, status := g.site(r)+r.URL.RequestURI(), http.StatusFound
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		// The form is lost whatever we do; the address it was sent to is not a page.
		target, status = g.formPage(r), http.StatusSeeOther
	}
	page := g.QueueURL + "?target=" + url.QueryEscape(target)
	if navigates(r) {
		http.Redirect(w, r, page, status)
		return
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Retry-After", "5")
	w.WriteHeader(http.StatusTooManyRequests)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"type": "about:blank", "title": "Waiting room", "status": http.StatusTooManyRequests,
		"detail":    "This site admits visitors in turn. Open queue_url in a browser to join the line.",
		"queue_url": page,
	})
}

func (g Gate) site(r *http.Request) string {
	if g.PublicURL != "" {
		return strings.TrimSuffix(g.PublicURL, "/")
	}
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// formPage is where a visitor goes whose form post was refused: the page that holds the
// form if it is of this site, else the front page.
func (g Gate) formPage(r *http.Request) string {
	site := g.site(r)
	ref, err := url.Parse(r.Referer())
	if err != nil || ref.Scheme+"://"+ref.Host != site {
		return site + "/"
	}
	return site + ref.RequestURI()
}

// navigates tells a page load from a call by a script or an app.
func navigates(r *http.Request) bool {
	if r.Header.Get("X-Requested-With") != "" {
		return false
	}
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		return mode == "navigate"
	}
	accept := strings.ToLower(strings.Join(r.Header.Values("Accept"), ","))
	page, api := strings.Index(accept, "text/html"), strings.Index(accept, "json")
	return page >= 0 && (api < 0 || page < api)
}
