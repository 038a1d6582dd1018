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

	// Whole paths, not routers in routers: each level costs the most frequent requests.
	r.Group(func(r chi.Router) {
		r.Use(s.sameOrigin)
		s.visitorAPI(r)
		s.pages(r)
	})
	return r
}

func (s *Server) visitorAPI(r chi.Router) {
	const room = "/v1/rooms/{room}"
	r.Get(room, s.handle(s.status))
	r.Get(room+"/challenge", s.handle(s.challenge))
	r.Post(room+"/release", s.handle(s.release))
	r.Post("/v1/limits/{policy}", s.handle(s.checkLimit))
	if s.Gate != nil {
		r.Post(room+"/redeem", s.handle(s.redeem))
		r.Post(room+"/check", s.handle(s.check))
	}
	r.Post(room+"/ticket", s.handle(s.join))
	r.Get(room+"/ticket", s.handle(s.poll))
	r.Delete(room+"/ticket", s.handle(s.leave))
	r.Post(room+"/ticket/claim", s.handle(s.claim))
	r.Post(room+"/ticket/away", s.handle(s.away))
	r.Post(room+"/ticket/resume", s.handle(s.offerJSON))
	r.Options(room+"/ticket", s.preflight)
	r.Options(room+"/ticket/*", s.preflight)
}

func (s *Server) pages(r chi.Router) {
	const room = "/r/{room}"
	r.Get(room, s.handle(s.queuePage))
	r.Head(room, s.handle(s.queuePage))
	r.Get(room+"/preview", s.handle(s.preview))
	r.Post(room+"/join", s.handle(s.joinForm))
	r.Post(room+"/claim", s.handle(s.claimForm))
	r.Post(room+"/leave", s.handle(s.leaveForm))
	r.Get(room+"/t/{token}", s.handle(s.withoutCookies))
	r.Post(room+"/resume", s.handle(s.offerForm))
	r.Get(room+"/resume/{code}", s.handle(s.arrive))
	r.Head(room+"/resume/{code}", s.handle(s.arrive))
	r.Post(room+"/resume/{code}", s.handle(s.take))
}

func (s *Server) home(w http.ResponseWriter, r *http.Request) error {
	if s.Home == nil {
		return errNotFound
	}
	s.Home.ServeHTTP(w, r)
	return nil
}
