package rehearse

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// answer is what came of one request.
type answer struct {
	sent, done time.Duration
	status     int           // of HTTP; 0 = no answer came
	fault      string        // what went wrong, from a closed list of kinds; "" = nothing
	retryAfter time.Duration // what the server asked for
	body       body
	hops       int     // requests of a page load
	at         string  // address of its last request
	landed     landing // where it ended
}

// refused tells whether the visitor was told to join again.
func (a *answer) refused() bool { return a.status == http.StatusUnauthorized }

// body has every member that the answers to a visitor may have.
type body struct {
	State       string `json:"state"`
	Position    int32  `json:"position"`
	PollAfterMS int64  `json:"poll_after_ms"`
	Ticket      string `json:"ticket"`
	Pass        string `json:"pass"`
	Redirect    string `json:"redirect"`
	ExpiresInS  int64  `json:"expires_in_s"`
}

// expected are the statuses that are a proper answer to each kind of request. All others
// are faults, and the request is sent again.
var expected = map[phase][]int{
	joining:   {http.StatusOK, http.StatusCreated, http.StatusConflict},
	polling:   {http.StatusOK, http.StatusUnauthorized},
	looking:   {http.StatusOK, http.StatusUnauthorized},
	claiming:  {http.StatusOK, http.StatusUnauthorized, http.StatusConflict},
	again:     {http.StatusOK, http.StatusUnauthorized, http.StatusConflict},
	leaving:   {http.StatusOK, http.StatusUnauthorized},
	releasing: {http.StatusOK, http.StatusUnauthorized},
	byOrigin:  {http.StatusNoContent},
	// A queue page may come with 503; browse has looked at it.
	arriving:  {http.StatusOK, http.StatusServiceUnavailable},
	entering:  {http.StatusOK, http.StatusServiceUnavailable},
	visiting:  {http.StatusOK, http.StatusServiceUnavailable},
	returning: {http.StatusOK, http.StatusServiceUnavailable},
}

// retryAfter reads whole seconds or a date.
func retryAfter(text string, now time.Time) time.Duration {
	if s, err := strconv.ParseInt(text, 10, 32); err == nil {
		return max(0, time.Duration(s)*time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// kind names a network error by one of a few words.
func kind(err error) string {
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(err.Error(), "server closed idle connection"):
		return "connection closed"
	}
	return "other network error"
}

// subject reads whose pass it is. The signature is the origin's business, not checked here.
func subject(pass string) (string, bool) {
	parts := strings.Split(pass, ".")
	if len(parts) != 3 {
		return "", false
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", false
	}
	var c struct {
		Sub string `json:"sub"`
	}
	err = json.Unmarshal(claims, &c)
	return c.Sub, err == nil && c.Sub != ""
}
