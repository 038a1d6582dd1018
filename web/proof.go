package web

import (
	"net/http"
	"time"

	"github.com/anteroom/anteroom/internal/proof"
	"github.com/anteroom/anteroom/internal/rooms"
)

// challenge gives a browser its work. It stores nothing.
func (s *Server) challenge(w http.ResponseWriter, r *http.Request) error {
	room, err := s.room(r)
	if err != nil {
		return err
	}
	if room.Proof == 0 {
		return errNotFound
	}
	c, err := s.proofs.Ask(room.Name, int64(room.Proof), time.Now())
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, c)
}

// checkProof uses a solution up. A join that is sent again needs a new one: it finds the
// place that the first made.
func (s *Server) checkProof(r *http.Request, room rooms.Room, payload string) error {
	if room.Proof == 0 {
		return nil
	}
	name, err := s.proofs.Verify(room.Name, payload, time.Now())
	if err != nil {
		return errProof
	}
	ctx, cancel := s.store(r)
	defer cancel()
	first, err := s.Line.Redeem(ctx, room.Queue(), name, 0, proof.Life)
	if err != nil {
		return err
	}
	if !first {
		return errProof
	}
	return nil
}
