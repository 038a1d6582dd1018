package web

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/queue"
	"github.com/anteroom/anteroom/web/page"
)

// queuePage shows the room's page. It takes no place: a visitor without one sees how to
// join, and the script or the form does it. With a ticket it is a poll.
func (s *Server) queuePage(w http.ResponseWriter, r *http.Request) error {
	room, err := s.room(r)
	if err != nil {
		return err
	}
	target := r.URL.Query().Get("target")
	if !room.Enabled {
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, s.safeTarget(room, target), http.StatusFound)
		return nil
	}
	return s.showQueue(w, r, room, target, http.StatusOK)
}

// showQueue shows the page, at its own address or in the place of a protected one.
func (s *Server) showQueue(w http.ResponseWriter, r *http.Request, room rooms.Room, target string, status int) error {
	view := s.view(r, room)
	view.Target = target
	s.keepLanguage(w, r)
	t, has := s.ticket(r, room)
	if has && view.Target == "" {
		view.Target = t.Target
	}
	view.Target = s.safeTarget(room, view.Target)
	if visitor(r) == "" {
		s.setCookie(w, visitorCookie, queue.NewSecret(), visitorLife)
	}
	switch state := s.shut(room); {
	case has:
	case state != "":
		view.Standing = &page.Standing{State: string(state), OpensInS: int64(math.Ceil(opensIn(room).Seconds()))}
	case r.URL.Query().Has("left"):
		view.Status = string(queue.Left) // the page does not join again by itself
	case r.URL.Query().Has("done"):
		view.Status = "done" // left from inside
	}
	if has && r.Method == http.MethodGet {
		at, err := s.ask(r, room, t)
		var known problem
		switch {
		case err == nil:
			view.Standing, view.Notice = s.pageStanding(room, at)
		case errors.As(err, &known) && known.State == string(queue.Moved):
			view.Status = known.State // the page rests: the place goes on elsewhere
		case errors.As(err, &known):
			view.Notice = "expired_anew"
		case r.Context().Err() != nil:
			return err
		default:
			status, view.Problem = http.StatusServiceUnavailable, "store_away"
			w.Header().Set("Retry-After", "3")
		}
	}
	s.renderQueue(w, r, room, status, view)
	return nil
}

// renderQueue shows the queue page as the room has it, or the built-in one.
func (s *Server) renderQueue(w http.ResponseWriter, r *http.Request, room rooms.Room, status int, view page.View) {
	shown := page.Page(view)
	if o := s.ownPages.of(room); o != nil {
		shown = o.Page(view)
	}
	s.render(w, r, status, shown, room)
}

func (s *Server) pageStanding(room rooms.Room, at queue.Standing) (*page.Standing, string) {
	full := s.standing(room, at, "")
	out := &page.Standing{
		State: string(full.State), Position: full.Position, Ahead: at.Ahead, ClaimByS: full.ClaimByS, OpensInS: full.OpensInS, Near: full.Near,
	}
	if full.Reforming {
		full.Notice = "reforming"
	}
	if full.ETA != nil {
		out.LowS, out.HighS = full.ETA.LowS, full.ETA.HighS
	}
	return out, full.Notice
}

// render writes a page whose forms may lead to the room's hosts. Pages depend on cookies, so
// nobody keeps them.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, c templ.Component, room rooms.Room) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store, private")
	h.Set("Content-Security-Policy", page.WithImages(page.CSP(room.Targets...), logoHost(room)))
	h.Set("X-Robots-Tag", "noindex")
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	if err := c.Render(r.Context(), w); err != nil && r.Context().Err() == nil {
		s.Log.Error("render", "path", r.URL.Path, "error", err)
	}
}

// joinForm is join for a page without script.
func (s *Server) joinForm(w http.ResponseWriter, r *http.Request) error {
	room, err := s.room(r)
	if err != nil {
		return err
	}
	if err := r.ParseForm(); err != nil {
		return badForm(err)
	}
	j, err := s.takePlace(w, r, room, joinBody{Target: r.PostForm.Get("target"), Proof: r.PostForm.Get("proof")})
	if err != nil {
		return err
	}
	if j.token == "" {
		return seeOther(w, r, "/r/"+room.Name) // the page says why there is no place now
	}
	return seeOther(w, r, "/r/"+room.Name+"/t/"+j.token)
}

// claimForm is the claim for a page without script.
func (s *Server) claimForm(w http.ResponseWriter, r *http.Request) error {
	room, err := s.room(r)
	if err != nil {
		return err
	}
	out, err := s.enter(w, r, room)
	var known problem
	if errors.As(err, &known) && known.Status < 500 {
		return seeOther(w, r, "/r/"+room.Name) // the page says where the ticket stands
	}
	if err != nil {
		return err
	}
	if s.bounced(w, r, room) {
		view := s.view(r, room)
		view.Status = "loop"
		s.renderQueue(w, r, room, http.StatusOK, view)
		return nil
	}
	return seeOther(w, r, out.Redirect)
}

const (
	bouncesMost = 4           // times that one turn leads into the site within a minute
	bounceLife  = time.Minute // after which they are forgotten
)

// bounced counts how often a visitor without script was sent into the site: one that sends
// people back at once, since it does not keep their pass, would make a loop of it.
func (s *Server) bounced(w http.ResponseWriter, r *http.Request, room rooms.Room) bool {
	name, n := "anteroom_b_"+room.Name, 0
	if c, err := r.Cookie(name); err == nil {
		n, _ = strconv.Atoi(c.Value)
	}
	s.setCookie(w, name, strconv.Itoa(n+1), bounceLife)
	return n >= bouncesMost
}

func (s *Server) leaveForm(w http.ResponseWriter, r *http.Request) error {
	room, err := s.room(r)
	if err != nil {
		return err
	}
	left := "?left"
	if t, ok := s.ticket(r, room); ok {
		if _, inside := s.ownPass(r, room, t.ID); inside {
			left = "?done"
		}
	}
	var known problem
	if _, err := s.giveUp(w, r, room); err != nil && !errors.As(err, &known) {
		return err
	}
	return seeOther(w, r, "/r/"+room.Name+left)
}

func seeOther(w http.ResponseWriter, r *http.Request, to string) error {
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

func badForm(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return err
	}
	return errJSON
}
