package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/anteroom/anteroom/limit"
	"github.com/anteroom/anteroom/limit/httplimit"
	"github.com/anteroom/anteroom/limit/policy"
)

// mostChecks bounds a batch.
const mostChecks = 100

// limitCall is one call to check: the parts of its key by name, and its cost, 1 if not given.
type limitCall struct {
	Key  map[string]string `json:"key"`
	Cost *int64            `json:"cost"`
}

// limitAnswer is a decision. Times are rounded up to a millisecond.
type limitAnswer struct {
	Allowed      bool   `json:"allowed"`
	Limit        int64  `json:"limit"`
	Remaining    int64  `json:"remaining"`
	RetryAfterMS int64  `json:"retry_after_ms"`
	ResetAfterMS int64  `json:"reset_after_ms"`
	Rule         string `json:"rule"`
	// ShadowRefused tells of a call that an enforced policy would have refused.
	ShadowRefused bool `json:"shadow_refused,omitempty"`
	// Degraded is the policy's on_store_error when the store did not decide.
	Degraded policy.OnStoreError `json:"degraded,omitempty"`
}

// checkLimit decides about a call to another service, or about up to a hundred, each by
// itself and in their order. A refusal is an answer like any other: the status is 200.
func (s *Server) checkLimit(w http.ResponseWriter, r *http.Request) error {
	if !s.knowsKey(bearer(r)) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		return errAPIKey
	}
	p, ok := s.Limits.policy(chi.URLParam(r, "policy"))
	if !ok || doorParts[p.Name] != nil {
		return errNoPolicy
	}
	one, batch, err := readChecks(r)
	if err != nil {
		return err
	}
	if one != nil {
		v, answer, err := s.decideCall(r, p, *one)
		if err != nil {
			return err
		}
		if v.Degraded == "" {
			httplimit.WriteFields(w.Header(), 0, v.Checks, v.Decision)
		}
		return writeJSON(w, http.StatusOK, answer)
	}
	// All calls are read before the first is counted: a bad one takes nothing.
	for i, c := range batch {
		if err := s.validCall(p, c); err != nil {
			return inBatch(i, err)
		}
	}
	results := make([]limitAnswer, len(batch))
	for i, c := range batch {
		if _, results[i], err = s.decideCall(r, p, c); err != nil {
			return inBatch(i, err)
		}
	}
	return writeJSON(w, http.StatusOK, map[string]any{"results": results})
}

// readChecks reads a body strictly: a misspelt part would else count under another key.
func readChecks(r *http.Request) (*limitCall, []limitCall, error) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, nil, err
	}
	var body struct {
		limitCall
		Checks []limitCall `json:"checks"`
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil {
		return nil, nil, badCheck(`The body is {"key":{"user":"…"},"cost":1} or {"checks":[…]}.`)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, badCheck("There is something after the body's object.")
	}
	switch {
	case body.Checks == nil:
		return &body.limitCall, nil, nil
	case body.Key != nil || body.Cost != nil:
		return nil, nil, badCheck("The body has both checks and a key or a cost.")
	case len(body.Checks) == 0 || len(body.Checks) > mostChecks:
		return nil, nil, badCheck(fmt.Sprintf("checks has %d items, want 1 to %d.", len(body.Checks), mostChecks))
	}
	return nil, body.Checks, nil
}

func (c limitCall) cost() int64 {
	if c.Cost == nil {
		return 1
	}
	return *c.Cost
}

// value gives a part of the key. Headers are named as the policy names them, in any case.
func (c limitCall) value(part policy.Part) string {
	if v, ok := c.Key[string(part)]; ok {
		return v
	}
	for name, v := range c.Key {
		if strings.EqualFold(name, string(part)) {
			return v
		}
	}
	return ""
}

func (s *Server) validCall(p *policy.Policy, c limitCall) error {
	return asProblem(s.Limits.decider.Valid(p, c.value, c.cost()))
}

func (s *Server) decideCall(r *http.Request, p *policy.Policy, c limitCall) (policy.Verdict, limitAnswer, error) {
	v, err := s.Limits.decide(r.Context(), p, c.value, c.cost())
	if err != nil {
		return v, limitAnswer{}, asProblem(err)
	}
	return v, limitAnswer{
		Allowed: v.Pass, Limit: v.Limit, Remaining: v.Remaining, Rule: v.Rule,
		RetryAfterMS: ceilMillis(v.RetryAfter), ResetAfterMS: ceilMillis(v.ResetAfter),
		ShadowRefused: v.Pass && !v.Allowed, Degraded: v.Degraded,
	}, nil
}

// asProblem tells a caller of its own mistake.
func asProblem(err error) error {
	if errors.Is(err, policy.ErrPart) || errors.Is(err, limit.ErrCost) || errors.Is(err, limit.ErrKey) || errors.Is(err, limit.ErrChecks) {
		return badCheck(err.Error())
	}
	return err
}

func badCheck(detail string) problem {
	p := errCheck
	p.Detail = detail
	return p
}

func inBatch(i int, err error) error {
	var p problem
	if errors.As(err, &p) {
		p.Detail = fmt.Sprintf("checks[%d]: %s", i, p.Detail)
		return p
	}
	return err
}

func ceilMillis(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }
