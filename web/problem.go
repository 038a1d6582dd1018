package web

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"

	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/pass"
	"github.com/anteroom/anteroom/queue"
	"github.com/anteroom/anteroom/web/gate"
	"github.com/anteroom/anteroom/web/page"
)

// problem is an error as a client sees it (RFC 9457).
type problem struct {
	Status int    `json:"status"`
	Type   string `json:"type"`
	Title  string `json:"title"`
	Detail string `json:"detail,omitempty"`
	// State is where the ticket stands, when that is what is wrong.
	State string `json:"state,omitempty"`
	// RetryAfterS asks the client to come back no sooner than in so many seconds.
	RetryAfterS int `json:"retry_after_s,omitempty"`
}

func (p problem) Error() string { return p.Title + ": " + p.Detail }

// The problems of this API. Their types are stable: clients compare them.
var (
	errNotFound  = problem{Status: 404, Type: "/problems/not-found", Title: "Not found", Detail: "There is nothing at this address."}
	errNoRoom    = problem{Status: 404, Type: "/problems/unknown-room", Title: "Unknown room", Detail: "No room has this name."}
	errMethod    = problem{Status: 405, Type: "/problems/method", Title: "Method not allowed", Detail: "This address does not take this method."}
	errRejoin    = problem{Status: 401, Type: "/problems/rejoin", Title: "Join again", Detail: "There is no valid ticket of this room's present line with this request."}
	errExpired   = problem{Status: 401, Type: "/problems/rejoin", Title: "Join again", Detail: "This ticket's place was used or kept empty for too long.", State: string(queue.Expired)}
	errMoved     = problem{Status: 401, Type: "/problems/rejoin", Title: "Join again", Detail: "This ticket's place was taken to another device.", State: string(queue.Moved)}
	errTurn      = problem{Status: 409, Type: "/problems/not-your-turn", Title: "Not your turn", Detail: "This ticket is still in the line."}
	errKeyUsed   = problem{Status: 409, Type: "/problems/idempotency-key-used", Title: "Idempotency-Key was used", Detail: "The place made with this key is used up. Join with a new key."}
	errKey       = problem{Status: 400, Type: "/problems/idempotency-key", Title: "Bad Idempotency-Key", Detail: "An Idempotency-Key has 16 to 128 visible ASCII characters."}
	errJSON      = problem{Status: 400, Type: "/problems/body", Title: "Bad body", Detail: "The body is not the JSON object that this address takes."}
	errTooLarge  = problem{Status: 413, Type: "/problems/too-large", Title: "Body too large", Detail: "A body may have 16 KiB."}
	errAPIKey    = problem{Status: 401, Type: "/problems/api-key", Title: "API key needed", Detail: "Send Authorization: Bearer with one of the server's API keys."}
	errCrossSite = problem{Status: 403, Type: "/problems/cross-site", Title: "Cross-site request", Detail: "Another site's page may not act for a visitor here."}
	errStore     = problem{Status: 503, Type: "/problems/store-away", Title: "The line is out of reach", Detail: "The place is kept. Try again shortly.", RetryAfterS: 2}
	errTooOften  = problem{Status: 429, Type: "/problems/too-often", Title: "Asked too often", Detail: "Your place is kept. Ask again when poll_after_ms says; asking more often is not faster."}
	errBusyDoor  = problem{Status: 429, Type: "/problems/too-many", Title: "Too many at once", Detail: "Too many came from your address or to this room at once. Try again after the seconds that Retry-After says."}
	errNoPolicy  = problem{Status: 404, Type: "/problems/unknown-policy", Title: "Unknown policy", Detail: "No policy of the limits file has this name."}
	errCheck     = problem{Status: 400, Type: "/problems/check", Title: "Bad check"}
	errProof     = problem{Status: 403, Type: "/problems/proof-needed", Title: "Proof needed", Detail: "This room asks for a little work first: solve what GET …/challenge gives, and send it as proof. Each solution counts once."}
	errForwarded = problem{Status: 400, Type: "/problems/forwarded", Title: "No request", Detail: "The forwarded headers do not say what the visitor asked for."}
	errPeer      = problem{Status: 403, Type: "/problems/peer", Title: "Unknown proxy", Detail: "Only trusted proxies may ask the gate; --trusted-proxies names them."}
	errPath      = problem{Status: 400, Type: "/problems/path", Title: "Bad path", Detail: "The path has a malformed escape or a control character."}
	errHandover  = problem{Status: 409, Type: "/problems/handover", Title: "Hand-over is over", Detail: "This token was used before, or its session has ended."}
	errOrigin    = problem{Status: 502, Type: "/problems/origin", Title: "The site does not answer", Detail: "You are through the line and keep your turn, but the site behind it does not answer just now. Try again in a moment.", RetryAfterS: 3}
	errInternal  = problem{Status: 500, Type: "/problems/internal", Title: "Internal error", Detail: "This is our fault. It has been logged."}
)

// statusGone marks a client that went away, as nginx does.
const statusGone = 499

// handler is a handler whose error handle answers.
type handler func(w http.ResponseWriter, r *http.Request) error

// handle answers a handler's error once: the one place where errors become statuses.
func (s *Server) handle(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		p := classify(r, err)
		switch {
		case p.Status == statusGone:
			w.WriteHeader(statusGone)
			return
		case p.Status >= 500:
			s.Log.Warn("request failed", "method", r.Method, "path", r.URL.Path, "status", p.Status, "error", err)
		}
		w.Header().Set("Cache-Control", "no-store")
		if p.RetryAfterS > 0 {
			// Spread the return of a crowd over as much again.
			p.RetryAfterS += rand.IntN(p.RetryAfterS + 1) //nolint:gosec // no secret
			w.Header().Set("Retry-After", strconv.Itoa(p.RetryAfterS))
		}
		if pass.Navigates(r) {
			shown := page.Notice(page.NoticeView{Title: p.Title, Text: p.Detail, Lang: language(r)})
			if p.Type == errNoRoom.Type {
				shown = page.Unknown(language(r))
			}
			s.render(w, r, p.Status, shown, rooms.Room{})
			return
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(p.Status)
		_ = json.NewEncoder(w).Encode(p)
	}
}

func classify(r *http.Request, err error) problem {
	var p problem
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, gate.ErrForwarded):
		return errForwarded
	case errors.Is(err, gate.ErrPeer):
		return errPeer
	case errors.As(err, &tooLarge):
		return errTooLarge
	case r.Context().Err() != nil:
		return problem{Status: statusGone}
	case errors.Is(err, queue.ErrStore), errors.Is(err, context.DeadlineExceeded):
		return errStore
	}
	return errInternal
}

func writeJSON(w http.ResponseWriter, status int, v any) error {
	w.Header().Set("Content-Type", "application/json")
	if w.Header().Get("Cache-Control") == "" {
		w.Header().Set("Cache-Control", "no-store")
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that went away is no error of ours
	return nil
}
