package web

import (
	"net/http"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/queue"
)

func (s *Server) poll(w http.ResponseWriter, r *http.Request) error {
	room, err := s.room(r)
	if err != nil {
		return err
	}
	t, ok := s.ticket(r, room)
	if !ok {
		return errRejoin
	}
	if err := s.Limits.poll(r.Context(), t.ID); err != nil {
		return err
	}
	at, err := s.ask(r, room, t)
	if err != nil {
		return err
	}
	out := s.standing(room, at, t.Target)
	return writeStanding(w, &out)
}

// ask polls the line for a ticket. A place that is gone is an error here: the visitor
// has to join again.
func (s *Server) ask(r *http.Request, room rooms.Room, t queue.Ticket) (queue.Standing, error) {
	// Polls bounds its own time: a timer for each of the most frequent requests would
	// cost more than reading the ticket does.
	at, err := s.Polls.Poll(r.Context(), room.Queue(), t)
	if err != nil {
		return queue.Standing{}, err
	}
	if at, err = s.retake(r, room, t, at); err != nil {
		return queue.Standing{}, err
	}
	switch at.State {
	case queue.Foreign:
		return queue.Standing{}, errRejoin
	case queue.Moved:
		return queue.Standing{}, errMoved
	case queue.Expired:
		return queue.Standing{}, errExpired
	}
	return at, nil
}

// retake gives a visitor the slot back whose pass proves that it is inside, though the
// line says otherwise: Redis forgot it.
func (s *Server) retake(r *http.Request, room rooms.Room, t queue.Ticket, at queue.Standing) (queue.Standing, error) {
	if at.State == queue.Active || at.State == queue.Admitted || at.State == queue.Foreign {
		return at, nil
	}
	claims, ok := s.ownPass(r, room, t.ID)
	if !ok {
		return at, nil
	}
	ctx, cancel := s.store(r)
	defer cancel()
	got, err := s.Line.Touch(ctx, room.Queue(), []queue.Inside{{ID: t.ID, Generation: claims.Generation, Ends: claims.Expires}})
	if err != nil {
		return at, err
	}
	if got[0].State == queue.Active {
		return got[0], nil
	}
	return at, nil
}
