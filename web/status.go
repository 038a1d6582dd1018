package web

import (
	"net/http"
	"time"
)

// roomStatus is the public status of a room.
type roomStatus struct {
	Room     string `json:"room"`
	Title    string `json:"title"`
	State    string `json:"state"` // open, paused, closed, not_open; unknown while the store is away
	Waiting  int64  `json:"waiting"`
	Active   int64  `json:"active"`
	Capacity int    `json:"capacity"`
	Rate     string `json:"rate"`
	// ETA is the wait of somebody who joins now.
	ETA     *eta   `json:"eta,omitempty"`
	Message string `json:"message"`
}

func (s *Server) status(w http.ResponseWriter, r *http.Request) error {
	room, err := s.room(r)
	if err != nil {
		return err
	}
	out := roomStatus{Room: room.Name, Title: room.Display(), State: "unknown", Capacity: room.Capacity, Rate: room.Rate.String(), Message: room.Message}
	if status, ok := s.Statuses.Last(room.Name); ok {
		out.State, out.Waiting, out.Active = string(room.StateAt(time.Now())), status.Waiting, status.Active
		if status.Waiting > 0 {
			out.ETA = estimate(room, status.Waiting, status)
		}
	}
	w.Header().Set("Cache-Control", "public, max-age=1")
	return writeJSON(w, http.StatusOK, out)
}

func (s *Server) jwks(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Cache-Control", "public, max-age=300")
	return writeJSON(w, http.StatusOK, s.Passes.Keys())
}

// health answers while the process serves.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte("ok\n"))
}

// ready answers 200 while the line can be reached.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	ctx, cancel := s.store(r)
	defer cancel()
	if err := s.Ready(ctx); err != nil {
		http.Error(w, "the store does not answer", http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ready\n"))
}
