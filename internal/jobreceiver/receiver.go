// Package jobreceiver is the far side of a queue of jobs, for tests: it notes each delivery
// by its own clock, checks the signature by the verifier of the Standard Webhooks project,
// and says afterwards whether the pace was kept.
package jobreceiver

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/anteroom/anteroom/leaky/deliver"
)

// Arrival is one delivery as it came.
type Arrival struct {
	ID      string
	Attempt int
	At      time.Time // when its header was read
	Body    string
	Forged  error // what the verifier says, nil for a valid signature
}

// Receiver is an http.Handler. Its methods may be called from any goroutine.
type Receiver struct {
	verifier *standardwebhooks.Webhook
	answer   http.HandlerFunc

	mu       sync.Mutex
	arrivals []Arrival
	changed  chan struct{} // closed at the next arrival
}

// New makes a receiver that holds secret. answer answers after the arrival was noted and the
// body read; nil says 200.
func New(secret deliver.Secret, answer http.HandlerFunc) (*Receiver, error) {
	verifier, err := standardwebhooks.NewWebhook(string(secret))
	if err != nil {
		return nil, fmt.Errorf("jobreceiver: %w", err)
	}
	return &Receiver{verifier: verifier, answer: answer, changed: make(chan struct{})}, nil
}

// ServeHTTP notes a delivery.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	came := Arrival{At: time.Now(), ID: request.Header.Get(standardwebhooks.HeaderWebhookID)}
	came.Attempt, _ = strconv.Atoi(request.Header.Get(deliver.HeaderAttempt)) // 0 shows that it is none
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, deliver.MaxBody))
	if came.Body = string(body); err != nil {
		came.Forged = err
	} else {
		came.Forged = r.verifier.Verify(body, request.Header)
	}
	r.mu.Lock()
	r.arrivals = append(r.arrivals, came)
	close(r.changed)
	r.changed = make(chan struct{})
	r.mu.Unlock()
	if r.answer != nil {
		r.answer(w, request)
	}
}

// Arrivals are those so far, in the order of their times.
func (r *Receiver) Arrivals() []Arrival {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Clone(r.arrivals)
	slices.SortStableFunc(all, func(a, b Arrival) int { return a.At.Compare(b.At) })
	return all
}

// Await waits until enough says true of the arrivals so far, which it is asked after each.
// It reports false when within has passed first.
func (r *Receiver) Await(within time.Duration, enough func([]Arrival) bool) bool {
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	for {
		r.mu.Lock()
		changed, soFar := r.changed, slices.Clone(r.arrivals)
		r.mu.Unlock()
		if enough(soFar) {
			return true
		}
		select {
		case <-changed:
		case <-deadline.C:
			return false
		}
	}
}

// Jobs is how many different jobs are among arrivals.
func Jobs(arrivals []Arrival) int {
	ids := map[string]bool{}
	for _, a := range arrivals {
		ids[a.ID] = true
	}
	return len(ids)
}
