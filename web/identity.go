package web

import (
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
)

// Cookies: the ticket of a room, its pass, and the visitor's secret from which ids are
// derived. All are HttpOnly and Lax, so that a return from a payment site brings them.
const visitorCookie = "anteroom_v"

func ticketCookie(room string) string { return "anteroom_t_" + room }

const (
	ticketLife  = 24 * time.Hour
	visitorLife = 24 * time.Hour
)

func (s *Server) setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure on https: a demo on plain http must work
		Name: name, Value: value, Path: "/", MaxAge: int(life.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.PublicURL.Scheme == "https",
	})
}

// room finds the room of the path.
func (s *Server) room(r *http.Request) (rooms.Room, error) {
	room, ok := s.Rooms.Get(chi.URLParam(r, "room"))
	if !ok {
		return rooms.Room{}, errNoRoom
	}
	return room, nil
}

// ticket reads the request's ticket, from the Authorization header or the cookie. A
// token that is forged, foreign or malformed is none.
func (s *Server) ticket(r *http.Request, room rooms.Room) (queue.Ticket, bool) {
	token := bearer(r)
	if token == "" {
		c, err := r.Cookie(ticketCookie(room.Name))
		if err != nil {
			return queue.Ticket{}, false
		}
		token = c.Value
	}
	t, err := s.Tickets.Parse(room.Name, token)
	return t, err == nil
}

func bearer(r *http.Request) string {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// ownPass is the pass that the request shows for its own ticket: proof that the visitor
// is inside even when Redis forgot it.
func (s *Server) ownPass(r *http.Request, room rooms.Room, id queue.ID) (pass.Claims, bool) {
	c, err := r.Cookie(pass.CookieName(room.Name))
	if err != nil {
		return pass.Claims{}, false
	}
	claims, err := pass.Verifier{Keys: s.Passes.Keys()}.Verify(r.Context(), c.Value, room.Name, 0)
	return claims, err == nil && claims.Visitor == string(id)
}

// readKey reads an Idempotency-Key; "" when there is none.
func readKey(r *http.Request) (string, error) {
	key := r.Header.Get("Idempotency-Key")
	if key == "" {
		return "", nil
	}
	visible := !strings.ContainsFunc(key, func(c rune) bool { return c < 0x21 || c > 0x7e })
	if len(key) < 16 || len(key) > 128 || !visible {
		return "", errKey
	}
	return key, nil
}

// visitor reads the visitor's secret; "" when there is none that we could have made.
func visitor(r *http.Request) string {
	c, err := r.Cookie(visitorCookie)
	if err != nil || len(c.Value) < 16 || len(c.Value) > 128 {
		return ""
	}
	return c.Value
}
