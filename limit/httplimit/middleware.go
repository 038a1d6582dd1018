package httplimit

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/anteroom/anteroom/limit"
)

// OnError says what a limit does while its store is away.
type OnError int

// The choices. Both are deliberate: there is no default that fits every door.
const (
	FailClosed OnError = iota + 1 // nobody passes: 503 with Retry-After
	FailOpen                      // everybody passes, uncounted
)

// Config is what Middleware needs to know. Store, Checks and OnError are required.
type Config struct {
	// Store counts. Around it, a refused.Store answers floods of refused callers by itself.
	Store limit.Store
	// Checks are the limits of a request, the narrowest first; none lets it pass. An error is
	// answered 400: the request has no usable key.
	Checks func(*http.Request) ([]limit.Check, error)
	// OnError says what happens while the store is away.
	OnError OnError
	// Timeout bounds the question to the store; default 50 ms.
	Timeout time.Duration
	// Shadow counts and lets everybody pass.
	Shadow bool
	// Fields are header families besides those of the IETF.
	Fields Fields
	// Observe, if set, is told each decision: for metrics. err is a store's.
	Observe func(d limit.Decision, err error)
	// Logger is told once when the store goes away and once when it is back; nil logs nothing.
	Logger *slog.Logger
}

// ErrConfig is wrapped by the error of New.
var ErrConfig = errors.New("httplimit: bad configuration")

// New makes a middleware.
func New(c Config) (func(http.Handler) http.Handler, error) {
	if c.Store == nil || c.Checks == nil || c.OnError != FailClosed && c.OnError != FailOpen {
		return nil, errors.Join(ErrConfig, errors.New("the Store, Checks and OnError fields are required"))
	}
	if c.Timeout == 0 {
		c.Timeout = 50 * time.Millisecond
	}
	if c.Observe == nil {
		c.Observe = func(limit.Decision, error) {}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	d := &door{Config: c}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if d.admit(w, r) {
				next.ServeHTTP(w, r)
			}
		})
	}, nil
}

type door struct {
	Config
	away state
}

// admit decides and, where it refuses, answers.
func (d *door) admit(w http.ResponseWriter, r *http.Request) bool {
	checks, err := d.Checks(r)
	if err != nil {
		refuse(w, problem{Status: http.StatusBadRequest, Type: "/problems/key", Title: "No usable key", Detail: err.Error()}, 0)
		return false
	}
	if len(checks) == 0 {
		return true
	}
	decision, err := d.decide(r, checks)
	d.Observe(decision, err)
	if err != nil {
		return d.withoutStore(w, r, err)
	}
	d.away.set(false, func() { d.Logger.Info("the store of the limits is back") })
	d.Fields.write(w.Header(), checks, decision)
	if decision.Allowed || d.Shadow {
		return true
	}
	refuse(w, problem{
		Status: http.StatusTooManyRequests, Type: "/problems/rate-limit", Title: "Too many requests",
		Detail: "The limit that rule names is used up. Try again after the seconds that Retry-After says.", Rule: decision.Rule,
	}, RetryAfter(decision))
	return false
}

// knower is a store that may know a refusal without asking, as refused.Store does.
type knower interface {
	Known([]limit.Check) (limit.Decision, bool)
}

// decide asks the store, unless it is known that it would refuse.
func (d *door) decide(r *http.Request, checks []limit.Check) (limit.Decision, error) {
	if k, ok := d.Store.(knower); ok {
		if decision, ok := k.Known(checks); ok {
			return decision, nil
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), d.Timeout)
	defer cancel()
	return d.Store.All(ctx, checks)
}

// withoutStore applies OnError. A caller's own mistake is told as such.
func (d *door) withoutStore(w http.ResponseWriter, r *http.Request, err error) bool {
	switch {
	case errors.Is(err, limit.ErrCost), errors.Is(err, limit.ErrKey), errors.Is(err, limit.ErrChecks):
		refuse(w, problem{Status: http.StatusBadRequest, Type: "/problems/limit", Title: "Not a usable request", Detail: err.Error()}, 0)
		return false
	case r.Context().Err() != nil:
		return false // nobody is there any more
	}
	d.away.set(true, func() { d.Logger.Warn("the store of the limits is away", "error", err) })
	if d.OnError == FailOpen || d.Shadow {
		return true
	}
	refuse(w, problem{Status: http.StatusServiceUnavailable, Type: "/problems/store", Title: "Service unavailable", Detail: "Requests cannot be counted just now."}, 1)
	return false
}

// problem is an answer in the form of RFC 9457.
type problem struct {
	Status int    `json:"status"`
	Type   string `json:"type"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Rule   string `json:"rule,omitempty"`
}

func refuse(w http.ResponseWriter, p problem, retryAfter int64) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "application/problem+json")
	if retryAfter > 0 {
		h.Set("Retry-After", strconv.FormatInt(retryAfter, 10))
	}
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // a client that went away is no error of ours
}
