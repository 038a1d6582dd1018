package demoshop

import (
	_ "embed"
	"net/http"
	"strconv"
	"time"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"

	"github.com/anteroom/anteroom/pass"
)

// The stylesheet and the script; both are read-only.
var (
	//go:embed shop.css
	css []byte
	//go:embed shop.js
	script []byte
)

const (
	cssPath    = "/demo-assets/shop.css"
	scriptPath = "/demo-assets/shop.js"
)

// Header is where the pass middleware tells a handler who the admitted visitor is.
const Header = "Anteroom-Visitor"

// maxTickets is the most that one order may have.
const maxTickets = 4

// Config is what the shop needs of the waiting room.
type Config struct {
	// LeavePath takes a form post that ends the visit and frees the slot; without one the
	// shop offers no way out.
	LeavePath string
	// Gate, optional, goes before every page: the pass middleware. Stylesheet and script
	// stay open to everyone.
	Gate func(http.Handler) http.Handler
	// Now, by default time.Now, sets the days of the programme and ends the visit.
	Now func() time.Time
}

// New is the shop. It decides nothing about who may enter: that is the gate's.
func New(c Config) http.Handler {
	if c.Gate == nil {
		c.Gate = func(next http.Handler) http.Handler { return next }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	s := shop{leavePath: c.LeavePath, now: c.Now}
	pages := chi.NewRouter()
	pages.Get("/", s.front)
	pages.Get("/events/{id}", s.event)
	pages.Post("/events/{id}/checkout", s.checkout)
	pages.NotFound(s.missing)

	r := chi.NewRouter()
	r.Get(cssPath, asset(css, "text/css; charset=utf-8"))
	r.Get(scriptPath, asset(script, "text/javascript; charset=utf-8"))
	r.Mount("/", c.Gate(pages))
	return r
}

type shop struct {
	leavePath string
	now       func() time.Time
}

func (s shop) front(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusOK, front(s.visit(r, "Tickets"), programme(s.now())))
}

func (s shop) event(w http.ResponseWriter, r *http.Request) {
	e, ok := find(programme(s.now()), chi.URLParam(r, "id"))
	if !ok {
		s.missing(w, r)
		return
	}
	s.show(w, r, http.StatusOK, detail(s.visit(r, e.Artist), e))
}

func (s shop) checkout(w http.ResponseWriter, r *http.Request) {
	e, ok := find(programme(s.now()), chi.URLParam(r, "id"))
	if !ok {
		s.missing(w, r)
		return
	}
	count, err := strconv.Atoi(r.PostFormValue("count"))
	if err != nil || count < 1 || count > maxTickets {
		s.show(w, r, http.StatusUnprocessableEntity, detail(s.visit(r, e.Artist), e))
		return
	}
	s.show(w, r, http.StatusOK, thanks(s.visit(r, "Thank you"), e, count))
}

func (s shop) missing(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusNotFound, missing(s.visit(r, "Not found")))
}

// visit is what every page shows around its content.
type visit struct {
	title, leavePath string
	inside           bool
	left             time.Duration // of the visit; 0 when it is not known
}

func (s shop) visit(r *http.Request, title string) visit {
	v := visit{title: title, leavePath: s.leavePath, inside: r.Header.Get(Header) != ""}
	if claims, ok := pass.FromContext(r.Context()); ok {
		v.left = max(0, claims.Expires.Sub(s.now()))
	}
	return v
}

func (s shop) show(w http.ResponseWriter, r *http.Request, status int, c templ.Component) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store, private")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	w.WriteHeader(status)
	_ = c.Render(r.Context(), w) // a client that went away is no error
}

func asset(data []byte, media string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		w.Header().Set("Cache-Control", "public, max-age=3600")
		_, _ = w.Write(data)
	}
}
