package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"time"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
)

func (s *Server) leave(w http.ResponseWriter, r *http.Request) error {
	room, err := s.room(r)
	if err != nil {
		return err
	}
	t, err := s.giveUp(w, r, room)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, s.standing(room, queue.Standing{State: queue.Left}, t.Target))
}

// giveUp spends the request's ticket and takes its cookies away.
func (s *Server) giveUp(w http.ResponseWriter, r *http.Request, room rooms.Room) (queue.Ticket, error) {
	t, ok := s.ticket(r, room)
	if !ok {
		return t, errRejoin
	}
	ctx, cancel := s.store(r)
	defer cancel()
	state, err := s.Line.Leave(ctx, room.Queue(), t)
	if err != nil {
		return t, err
	}
	if state == queue.Foreign {
		return t, errRejoin
	}
	for _, name := range []string{ticketCookie(room.Name), pass.CookieName(room.Name)} {
		s.setCookie(w, name, "", -time.Second)
	}
	return t, nil
}

// away is the beacon of a page that is closed or left: it answers whatever happens.
func (s *Server) away(w http.ResponseWriter, r *http.Request) error {
	room, err := s.room(r)
	if err != nil {
		return err
	}
	if t, ok := s.ticket(r, room); ok {
		ctx, cancel := s.store(r)
		defer cancel()
		if err := s.Line.Away(ctx, room.Queue(), t.ID); err != nil {
			return err
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// release frees the slot of a visitor on the word of the origin.
func (s *Server) release(w http.ResponseWriter, r *http.Request) error {
	room, err := s.room(r)
	if err != nil {
		return err
	}
	if !s.knowsKey(bearer(r)) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		return errAPIKey
	}
	var body struct {
		Pass string `json:"pass"`
		Sub  string `json:"sub"`
	}
	if err := readJSON(r, &body); err != nil {
		return err
	}
	if body.Pass != "" {
		claims, err := pass.Verifier{Keys: s.Passes.Keys()}.Verify(r.Context(), body.Pass, room.Name, 0)
		if err != nil {
			p := errJSON
			p.Detail = err.Error()
			return p
		}
		body.Sub = claims.Visitor
	}
	if len(body.Sub) != 22 {
		p := errJSON
		p.Detail = `The body needs "pass" or "sub", the 22 characters of a pass's subject.`
		return p
	}
	ctx, cancel := s.store(r)
	defer cancel()
	if _, err := s.Line.Release(ctx, room.Queue(), queue.ID(body.Sub)); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func hashKeys(keys []string) [][32]byte {
	var out [][32]byte
	for _, k := range keys {
		if k != "" {
			out = append(out, sha256.Sum256([]byte(k)))
		}
	}
	return out
}

// knowsKey compares hashes, so that its time tells nothing about a key.
func (s *Server) knowsKey(key string) bool {
	sum, known := sha256.Sum256([]byte(key)), 0
	for _, k := range s.apiKeys {
		known |= subtle.ConstantTimeCompare(sum[:], k[:])
	}
	return known == 1
}
