package web

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/anteroom/anteroom/web/page"
)

// noCookies is what a browser is told that keeps none.
const noCookies = "This browser keeps no cookies, so your place is in the address of this page: keep the page. " +
	"To go in, allow cookies for this site; the page then goes on by itself."

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
	w.Header().Set("Referrer-Policy", "no-referrer")
	view := page.View{Room: room.Name, Title: room.Display(), Message: room.Message, Target: t.Target, Problem: noCookies}
	view.Standing, view.Notice = s.pageStanding(room, at)
	s.render(w, r, http.StatusOK, page.Page(view), room.Targets...)
	return nil
}
