package web

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
	"github.com/anteroom/anteroom/web/gate"
)

// claimed is the JSON of a turn that was taken up.
type claimed struct {
	Pass       string `json:"pass"`
	Redirect   string `json:"redirect"`
	ExpiresInS int64  `json:"expires_in_s"`
}

func (s *Server) claim(w http.ResponseWriter, r *http.Request) error {
	room, err := s.room(r)
	if err != nil {
		return err
	}
	out, err := s.enter(w, r, room)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, out)
}

// enter claims the turn of the request's ticket and sets the pass as a cookie. The pass
// ends with the slot, never after it.
func (s *Server) enter(w http.ResponseWriter, r *http.Request, room rooms.Room) (claimed, error) {
	t, ok := s.ticket(r, room)
	if !ok {
		return claimed{}, errRejoin
	}
	ctx, cancel := s.store(r)
	defer cancel()
	at, err := s.Line.Claim(ctx, room.Queue(), t)
	if err != nil {
		return claimed{}, err
	}
	if at, err = s.retake(r, room, t, at); err != nil {
		return claimed{}, err
	}
	switch at.State {
	case queue.Active:
	case queue.Foreign:
		return claimed{}, errRejoin
	case queue.Moved:
		return claimed{}, errMoved
	case queue.Waiting:
		p := errTurn
		p.State = string(queue.Waiting)
		return claimed{}, p
	default:
		return claimed{}, errExpired
	}
	now := time.Now()
	token, claims, err := s.Passes.Renew(pass.Claims{Room: room.Name, Visitor: string(t.ID), Generation: at.Generation, Since: now.Add(-at.Inside)}, now, now.Add(at.Left))
	if err != nil {
		return claimed{}, err
	}
	s.setCookie(w, pass.CookieName(room.Name), token, gate.Answer{Room: room, Claims: claims}.CookieLife(now))
	redirect, err := s.wayIn(r, room, t.Target, claims, now)
	if err != nil {
		return claimed{}, err
	}
	return claimed{Pass: token, Redirect: redirect, ExpiresInS: floorSeconds(at.Left)}, nil
}

// wayIn is where a visitor goes whose turn it is. The cookie of the pass is of this host;
// to another one the admission travels once, in a hand-over token.
func (s *Server) wayIn(r *http.Request, room rooms.Room, wanted string, claims pass.Claims, now time.Time) (string, error) {
	target, _, _ := pass.CutHandover(s.safeTarget(room, wanted))
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || strings.EqualFold(u.Host, r.Host) {
		return target, err
	}
	token, _, err := s.Passes.SignHandover(claims, now)
	if err != nil {
		return "", err
	}
	return pass.AddHandover(target, token), nil
}
