package web

import (
	"encoding/base64"
	"errors"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/skip2/go-qrcode"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
	"github.com/anteroom/anteroom/web/gate"
	"github.com/anteroom/anteroom/web/page"
)

const (
	offerLife = 5 * time.Minute // of a link that takes a place to another device
	qrPixels  = 232
)

// offered is the JSON of such a link.
type offered struct {
	Link string `json:"link"`
	QR   string `json:"qr"` // a data URI, image/png
	ForS int64  `json:"for_s"`
}

// offer makes a link by which the place moves to another device, once. The code in it is
// 128 random bits and is known to Redis alone; the ticket itself does not travel.
func (s *Server) offer(r *http.Request, room rooms.Room) (offered, error) {
	if !room.Resume {
		return offered{}, errNotFound
	}
	t, ok := s.ticket(r, room)
	if !ok {
		return offered{}, errRejoin
	}
	code := queue.NewSecret()
	ctx, cancel := s.store(r)
	defer cancel()
	state, err := s.Line.Offer(ctx, room.Queue(), t, code, offerLife)
	if err != nil {
		return offered{}, err
	}
	switch state {
	case queue.Waiting, queue.Admitted, queue.Active:
	case queue.Foreign:
		return offered{}, errRejoin
	default:
		return offered{}, errExpired
	}
	link := *s.PublicURL
	link.Path = "/r/" + room.Name + "/resume/" + code
	png, err := qrcode.Encode(link.String(), qrcode.Medium, qrPixels)
	if err != nil {
		return offered{}, err
	}
	return offered{link.String(), "data:image/png;base64," + base64.StdEncoding.EncodeToString(png), int64(offerLife.Seconds())}, nil
}

func (s *Server) offerJSON(w http.ResponseWriter, r *http.Request) error {
	room, err := s.room(r)
	if err != nil {
		return err
	}
	out, err := s.offer(r, room)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, out)
}

// offerForm shows the link and its picture.
func (s *Server) offerForm(w http.ResponseWriter, r *http.Request) error {
	room, err := s.room(r)
	if err != nil {
		return err
	}
	out, err := s.offer(r, room)
	var known problem
	if errors.As(err, &known) && known.Status < 500 {
		return seeOther(w, r, "/r/"+room.Name) // the page says where the ticket stands
	}
	if err != nil {
		return err
	}
	s.render(w, r, http.StatusOK, page.Offer(s.view(r, room), page.ResumeView{Link: out.Link, QRDataURI: out.QR, ForS: out.ForS}), room)
	return nil
}

// arrive is what the link opens: a question. Programs that look at links open them too, and
// move nothing.
func (s *Server) arrive(w http.ResponseWriter, r *http.Request) error {
	room, err := s.room(r)
	if err != nil {
		return err
	}
	w.Header().Set("Referrer-Policy", "same-origin")
	s.render(w, r, http.StatusOK, page.Arrive(s.view(r, room), r.URL.Path), room)
	return nil
}

// take brings the place to this device, under a new id.
func (s *Server) take(w http.ResponseWriter, r *http.Request) error {
	room, err := s.room(r)
	if err != nil {
		return err
	}
	if err := s.pass(r, doorResume, room); err != nil {
		return err
	}
	id := s.Tickets.DeriveID(room.Name, queue.NewSecret(), 0)
	ctx, cancel := s.store(r)
	defer cancel()
	got, err := s.Line.Move(ctx, room.Queue(), chi.URLParam(r, "code"), id)
	if err != nil {
		return err
	}
	if got.State == queue.Expired {
		s.render(w, r, http.StatusGone, page.Gone(s.view(r, room)), room)
		return nil
	}
	if _, err := s.issue(w, room, id, got, ""); err != nil {
		return err
	}
	if got.State == queue.Active {
		now := time.Now()
		token, claims, err := s.Passes.Sign(room.Name, string(id), got.Generation, now, now.Add(got.Left))
		if err != nil {
			return err
		}
		s.setCookie(w, pass.CookieName(room.Name), token, gate.Answer{Room: room, Claims: claims}.CookieLife(now))
	}
	return seeOther(w, r, "/r/"+room.Name)
}
