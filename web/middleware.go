package web

import (
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

// recoverPanics answers 500 for a bug and keeps serving.
func (s *Server) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler { //nolint:errorlint // the documented sentinel value
				panic(v)
			}
			s.Log.Error("panic", "method", r.Method, "path", r.URL.Path, "panic", v, "stack", string(debug.Stack()))
			s.handle(func(http.ResponseWriter, *http.Request) error { return errInternal })(w, r)
		}()
		next.ServeHTTP(w, r)
	})
}

// observe counts and times requests by route template, never by path.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		next.ServeHTTP(ww, r)
		route := pattern(chi.RouteContext(r.Context()))
		s.metrics.observe(r.Method, route, ww.Status(), time.Since(began))
	})
}

// pattern is the template of the route that answered. Routes here are whole paths; only the
// handler of another package may have routers of its own.
func pattern(c *chi.Context) string {
	switch len(c.RoutePatterns) {
	case 0:
		return "other"
	case 1:
		return c.RoutePatterns[0]
	}
	return c.RoutePattern()
}

// secureHeaders gives all answers the same values, which are made once.
func secureHeaders(next http.Handler) http.Handler {
	sniff, referrer := []string{"nosniff"}, []string{"strict-origin-when-cross-origin"}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["X-Content-Type-Options"], h["Referrer-Policy"] = sniff, referrer
		next.ServeHTTP(w, r)
	})
}

func limitBody(most int64) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Body != nil && r.Body != http.NoBody {
				r.Body = http.MaxBytesReader(w, r.Body, most)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// sameOrigin lets pages of this site and of the room's targets act for their visitors,
// and refuses those of any other site. Requests that no browser page sent carry no Origin.
func (s *Server) sameOrigin(next http.Handler) http.Handler {
	vary := []string{"Origin"}[:1:1]
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Vary"] = vary // the first who says what the answer depends on
		origin := r.Header.Get("Origin")
		switch {
		case origin == "" || s.own(r, origin):
		case s.allowed(r, origin):
			h := w.Header()
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Allow-Credentials", "true")
			h.Set("Access-Control-Expose-Headers", "Retry-After")
		case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions:
			s.handle(func(http.ResponseWriter, *http.Request) error { return errCrossSite })(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) own(r *http.Request, origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Host == r.Host || u.Host == s.PublicURL.Host)
}

func (s *Server) allowed(r *http.Request, origin string) bool {
	room, ok := s.Rooms.Get(chi.URLParam(r, "room"))
	u, err := url.Parse(origin)
	return ok && err == nil && (u.Scheme == "https" || u.Scheme == "http") && slices.Contains(room.Targets, strings.ToLower(u.Host))
}

func (s *Server) preflight(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	if h.Get("Access-Control-Allow-Origin") != "" {
		h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, X-Requested-With")
		h.Set("Access-Control-Max-Age", "600")
	}
	w.WriteHeader(http.StatusNoContent)
}
