package web

import (
	"net/http"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/queue"
)

// maxPlaces is how many used-up places of one visitor's secret are passed over before
// the visitor gets a new secret.
const maxPlaces = 4

// joined is a place with its signed ticket.
type joined struct {
	queue.Joined
	ticket queue.Ticket
	token  string
}

func (s *Server) join(w http.ResponseWriter, r *http.Request) error {
	room, err := s.room(r)
	if err != nil {
		return err
	}
	body, err := readJoin(r)
	if err != nil {
		return err
	}
	j, err := s.takePlace(w, r, room, body)
	if err != nil {
		return err
	}
	if j.token == "" {
		return writeJSON(w, http.StatusOK, s.shutStanding(room, j.State, body.Target))
	}
	out := s.standing(room, j.Standing, j.ticket.Target)
	out.Ticket = j.token
	status := http.StatusOK
	if j.New {
		status = http.StatusCreated
	}
	return writeJSON(w, status, out)
}

// joinBody is what a join may bring.
type joinBody struct {
	Target string `json:"target"`
	Proof  string `json:"proof"` // a solved challenge, where the room asks for one
}

func readJoin(r *http.Request) (joinBody, error) {
	var body joinBody
	err := readJSON(r, &body)
	return body, err
}

// takePlace answers the place that the request's ticket has, or makes one. The id of a
// new place is derived from the Idempotency-Key or the visitor's cookie, so that joins
// that race, or are sent again, meet at one place. It sets the ticket's cookie. A room that
// gives no places now answers its state and no token.
func (s *Server) takePlace(w http.ResponseWriter, r *http.Request, room rooms.Room, body joinBody) (joined, error) {
	wanted := body.Target
	if t, ok := s.ticket(r, room); ok {
		if wanted == "" {
			wanted = t.Target
		}
		if err := s.Limits.poll(r.Context(), t.ID); err != nil {
			return joined{}, err
		}
		got, err := s.askPlace(r, room, t.ID, &t)
		if err != nil {
			return joined{}, err
		}
		if got.State != queue.Expired && got.State != queue.Foreign && got.State != queue.Moved {
			return s.issue(w, room, t.ID, got, wanted)
		}
	}
	key, err := readKey(r)
	if err != nil {
		return joined{}, err
	}
	if state := s.shut(room); state != "" {
		return joined{Joined: queue.Joined{Standing: queue.Standing{State: state}}}, nil
	}
	if err := s.pass(r, doorJoin, room); err != nil {
		return joined{}, err
	}
	if err := s.checkProof(r, room, body.Proof); err != nil {
		return joined{}, err
	}
	if key != "" {
		id := s.Tickets.DeriveID(room.Name, key, 0)
		got, err := s.askPlace(r, room, id, nil)
		if err != nil {
			return joined{}, err
		}
		if got.State == queue.Expired {
			return joined{}, errKeyUsed
		}
		return s.issue(w, room, id, got, wanted)
	}
	return s.placeOfVisitor(w, r, room, wanted)
}

// placeOfVisitor walks the places of the visitor's secret to the first that is not used up.
func (s *Server) placeOfVisitor(w http.ResponseWriter, r *http.Request, room rooms.Room, wanted string) (joined, error) {
	secret := visitor(r)
	for {
		if secret == "" {
			secret = queue.NewSecret()
			s.setCookie(w, visitorCookie, secret, visitorLife)
		}
		for n := range maxPlaces {
			id := s.Tickets.DeriveID(room.Name, secret, n)
			got, err := s.askPlace(r, room, id, nil)
			if err != nil {
				return joined{}, err
			}
			if got.State != queue.Expired {
				return s.issue(w, room, id, got, wanted)
			}
		}
		secret = ""
	}
}

func (s *Server) askPlace(r *http.Request, room rooms.Room, id queue.ID, shown *queue.Ticket) (queue.Joined, error) {
	ctx, cancel := s.store(r)
	defer cancel()
	got, err := s.Line.Join(ctx, room.Queue(), id, shown)
	if err != nil || shown == nil {
		return got, err
	}
	got.Standing, err = s.retake(r, room, *shown, got.Standing)
	return got, err
}

// issue signs the ticket of a place and sets its cookie.
func (s *Server) issue(w http.ResponseWriter, room rooms.Room, id queue.ID, got queue.Joined, wanted string) (joined, error) {
	t := queue.Ticket{Room: room.Name, Generation: got.Generation, ID: id, Place: got.Place, Target: s.safeTarget(room, wanted)}
	token, err := s.Tickets.Sign(t)
	if err != nil {
		return joined{}, err
	}
	s.setCookie(w, ticketCookie(room.Name), token, ticketLife)
	return joined{got, t, token}, nil
}
