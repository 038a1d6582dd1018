package web

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/anteroom/anteroom/web/page"
)

// maxBody is the largest request body that is read.
const maxBody = 16 << 10

// Handler is the whole public front. The order of the chain matters: recover sees every
// panic, observe counts what recover answers, protected sites take what is theirs with
// bodies of any size, and ours are bounded before anyone reads.
func (s *Server) Handler() http.Handler {
	r := chi.NewRouter()
	r.Use(s.recoverPanics, s.observe, s.protect, secureHeaders, limitBody(maxBody))
	r.NotFound(s.handle(s.home))
	r.MethodNotAllowed(s.handle(func(http.ResponseWriter, *http.Request) error { return errMethod }))

	r.Get("/healthz", s.health)
	r.Get("/readyz", s.ready)
	r.Get("/.well-known/jwks.json", s.handle(s.jwks))
	if s.Gate != nil {
		r.HandleFunc("/gate", s.handle(s.forward))
		r.HandleFunc("/gate/envoy/*", s.handle(s.forwardEnvoy))
	}
	r.Get(page.StaticPrefix+"theme/{name}", s.handle(s.themeCSS))
	r.Handle(page.StaticPrefix+"*", page.Static())

	r.Route("/v1/rooms/{room}", func(r chi.Router) {
		r.Use(s.sameOrigin)
		r.Get("/", s.handle(s.status))
		r.Get("/challenge", s.handle(s.challenge))
		r.Post("/release", s.handle(s.release))
		if s.Gate != nil {
			r.Post("/redeem", s.handle(s.redeem))
			r.Post("/check", s.handle(s.check))
		}
		r.Route("/ticket", func(r chi.Router) {
			r.Post("/", s.handle(s.join))
			r.Get("/", s.handle(s.poll))
			r.Delete("/", s.handle(s.leave))
			r.Post("/claim", s.handle(s.claim))
			r.Post("/away", s.handle(s.away))
			r.Post("/resume", s.handle(s.offerJSON))
			r.Options("/*", s.preflight)
		})
	})
	r.Route("/r/{room}", func(r chi.Router) {
		r.Use(s.sameOrigin)
		r.Get("/", s.handle(s.queuePage))
		r.Head("/", s.handle(s.queuePage))
		r.Post("/join", s.handle(s.joinForm))
		r.Post("/claim", s.handle(s.claimForm))
		r.Post("/leave", s.handle(s.leaveForm))
		r.Get("/t/{token}", s.handle(s.withoutCookies))
		r.Post("/resume", s.handle(s.offerForm))
		r.Get("/resume/{code}", s.handle(s.arrive))
		r.Head("/resume/{code}", s.handle(s.arrive))
		r.Post("/resume/{code}", s.handle(s.take))
	})
	return r
}

func (s *Server) home(w http.ResponseWriter, r *http.Request) error {
	if s.Home == nil {
		return errNotFound
	}
	s.Home.ServeHTTP(w, r)
	return nil
}
