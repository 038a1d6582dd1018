package web

import (
	"net/http"
	"strings"

	"github.com/anteroom/anteroom/web/page"
)

// preview shows a state of a room's page with invented data, for whoever designs it. It is
// there in the demo and where --preview says so: a visitor who got to see "it is your turn"
// would be misled.
func (s *Server) preview(w http.ResponseWriter, r *http.Request) error {
	room, err := s.room(r)
	if err != nil {
		return err
	}
	if !s.Preview {
		return errNotFound
	}
	view, ok := page.Preview(s.view(r, room), r.URL.Query().Get("state"))
	if !ok {
		p := errNotFound
		p.Detail = "state is one of " + strings.Join(page.PreviewStates(), ", ") + "."
		return p
	}
	view.Target = room.Default
	s.renderQueue(w, r, room, http.StatusOK, view)
	return nil
}
