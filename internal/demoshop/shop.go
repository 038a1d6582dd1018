// Package demoshop is the ticket shop that the demo room protects: what a site behind
// Anteroom looks like to its visitors. It sells nothing and keeps nothing.
package demoshop

import (
	_ "embed"
	"net/http"

	"github.com/go-chi/chi/v5"

)

//go:embed shop.css
var css []byte

const cssPath = "/demo-assets/shop.css"

// Event is one evening on sale.
type Event struct {
	ID, Date, Place, Artist, About string
	PriceEUR                       int
}

var events = []Event{
	{"harbour", "Friday 12 December", "Harbour Hall", "Mira Aalto Quartet", "Slow northern jazz for a winter evening, with candles on every table.", 34},
	{"arcade", "Saturday 13 December", "The Old Arcade", "Paper Lanterns", "Seven voices, two guitars, and the best echo in town.", 28},
	{"garden", "Sunday 14 December", "Glasshouse Garden", "Orchestra of Small Things", "Music boxes, toy pianos and a real cello, among the palms.", 22},
}

// Config is what the shop needs of the waiting room.
type Config struct {
	// LeavePath takes a form post that ends the visit and frees the slot.
	LeavePath string
	// Gate is the middleware that lets only admitted visitors in.
	Gate func(http.Handler) http.Handler
}

// New is the shop behind its gate; only its stylesheet is open to everyone.
func New(c Config) http.Handler {
	r := chi.NewRouter()
	r.Get(cssPath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		w.Header().Set("Cache-Control", "public, max-age=3600")
		_, _ = w.Write(css)
	})
	r.Group(func(r chi.Router) {
		r.Use(c.Gate, noStore)
		r.Get("/", func(w http.ResponseWriter, r *http.Request) { show(w, r, 200, front(c.LeavePath)) })
		r.Get("/events/{id}", func(w http.ResponseWriter, r *http.Request) {
			if e, ok := find(chi.URLParam(r, "id")); ok {
				show(w, r, 200, detail(e, c.LeavePath))
				return
			}
			show(w, r, 404, missing(c.LeavePath))
		})
		r.Post("/events/{id}/buy", func(w http.ResponseWriter, r *http.Request) {
			if e, ok := find(chi.URLParam(r, "id")); ok {
				show(w, r, 200, thanks(e, c.LeavePath))
				return
			}
			show(w, r, 404, missing(c.LeavePath))
		})
		r.NotFound(func(w http.ResponseWriter, r *http.Request) {
			c.Gate(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				show(w, r, 404, missing(c.LeavePath))
			})).ServeHTTP(w, r)
		})
	})
	return r
}

func find(id string) (Event, bool) {
	for _, e := range events {
		if e.ID == id {
			return e, true
		}
	}
	return Event{}, false
}

func noStore(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

