package web

import (
	"net/http"

	"github.com/go-chi/chi/v5"
)

// themeCSS serves a room's own style. Its address changes with it, so it is kept for ever.
func (s *Server) themeCSS(w http.ResponseWriter, r *http.Request) error {
	name := chi.URLParam(r, "name")
	for _, room := range s.Rooms.All() {
		if room.Theme.CSSName == name && name != "" {
			h := w.Header()
			h.Set("Content-Type", "text/css; charset=utf-8")
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
			_, _ = w.Write(room.Theme.CSS)
			return nil
		}
	}
	return errNotFound
}
