package web

import (
	"net/http"

	"github.com/go-chi/chi/v5"
)

// withoutCookies shows where the ticket in the page's own address stands. The form that joins
// leads here; a browser that brings the ticket's cookie goes on to the usual page at once, and
// one that does not can look here until it does. The address is not sent to other sites.
func (s *Server) withoutCookies(w http.ResponseWriter, r *http.Request) error {
	room, err := s.room(r)
	if err != nil {
		return err
	}
	token := chi.URLParam(r, "token")
	t, err := s.Tickets.Parse(room.Name, token)
	if _, has := s.ticket(r, room); err != nil || has {
		return seeOther(w, r, "/r/"+room.Name)
	}
	at, err := s.ask(r, room, t)
	if err != nil {
		return err
	}
	s.setCookie(w, ticketCookie(room.Name), token, ticketLife)
	w.Header().Set("Referrer-Policy", "same-origin")
	view := s.view(r, room)
	view.Target, view.Problem = t.Target, "no_cookies"
	view.Standing, view.Notice = s.pageStanding(room, at)
	s.renderQueue(w, r, room, http.StatusOK, view)
	return nil
}
