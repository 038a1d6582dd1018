package demoshop

import (
	_ "embed"
	"net/http"
	"strconv"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"
)

//go:embed shop.css
var css []byte

const cssPath = "/demo-assets/shop.css"

// Header is where the pass middleware tells a handler who the admitted visitor is.
const Header = "Anteroom-Visitor"

// maxTickets is the most that one order may have.
const maxTickets = 4

// Event is one evening on sale.
type Event struct {
	ID, Weekday, Day, Month, Place, Artist, About, More string
	PriceEUR                                            int
}

// Config is what the shop needs of the waiting room.
type Config struct {
	// LeavePath takes a form post that ends the visit and frees the slot; without one the
	// shop offers no way out.
	LeavePath string
	// Gate, optional, goes before every page: the pass middleware. The stylesheet stays
	// open to everyone.
	Gate func(http.Handler) http.Handler
}

// New is the shop. It decides nothing about who may enter: that is the gate's.
func New(c Config) http.Handler {
	if c.Gate == nil {
		c.Gate = func(next http.Handler) http.Handler { return next }
	}
	s := shop{leavePath: c.LeavePath}
	pages := chi.NewRouter()
	pages.Get("/", s.front)
	pages.Get("/events/{id}", s.event)
	pages.Post("/events/{id}/checkout", s.checkout)
	pages.NotFound(s.missing)

	r := chi.NewRouter()
	r.Get(cssPath, stylesheet)
	r.Mount("/", c.Gate(pages))
	return r
}

type shop struct{ leavePath string }

func (s shop) front(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusOK, front(s.visit(r, "Tickets")))
}

func (s shop) event(w http.ResponseWriter, r *http.Request) {
	e, ok := find(chi.URLParam(r, "id"))
	if !ok {
		s.missing(w, r)
		return
	}
	s.show(w, r, http.StatusOK, detail(s.visit(r, e.Artist), e))
}

func (s shop) checkout(w http.ResponseWriter, r *http.Request) {
	e, ok := find(chi.URLParam(r, "id"))
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
}

func (s shop) visit(r *http.Request, title string) visit {
	return visit{title: title, leavePath: s.leavePath, inside: r.Header.Get(Header) != ""}
}

func (s shop) show(w http.ResponseWriter, r *http.Request, status int, c templ.Component) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store, private")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	w.WriteHeader(status)
	_ = c.Render(r.Context(), w) // a client that went away is no error
}

func stylesheet(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Header().Set("Cache-Control", "public, max-age=3600")
	_, _ = w.Write(css)
}
