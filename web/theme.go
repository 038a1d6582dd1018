package web

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/anteroom/anteroom/web/page"
)

// themeCSS serves a room's own style: its colours, then its file. Its address changes with
// it, so it is kept for ever.
func (s *Server) themeCSS(w http.ResponseWriter, r *http.Request) error {
	name := chi.URLParam(r, "name")
	for _, room := range s.Rooms.All() {
		style := page.Stylesheet(room.Theme.Accent, room.Theme.Background, room.Theme.CSS)
		if style != nil && styleName(room.Name, style) == name {
			h := w.Header()
			h.Set("Content-Type", "text/css; charset=utf-8")
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
			_, _ = w.Write(style)
			return nil
		}
	}
	return errNotFound
}
