package retry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/anteroom/anteroom/internal/retryafter"
)

// ErrOpen is wrapped by the error of a request that the breaker did not let out.
var ErrOpen = errors.New("retry: the breaker is open")

// ErrConfig is wrapped by the error of New.
var ErrConfig = errors.New("retry: bad configuration")

// Breaker knows whether a service is worth asking. Allow is called before each attempt and
// before its permit is taken; the func that it returns is called once, when the attempt is
// over. Both are safe for concurrent use.
type Breaker interface {
	Allow() (done func(Verdict), err error)
}

// Verdict is what an attempt says of the service.
type Verdict int

// The verdicts.
const (
	Neutral Verdict = iota // 429, or an attempt that was given up: says nothing
	Success                // any other answer below 500
	Failure                // 5xx, or no answer
)

// Config is how a Transport behaves.
type Config struct {
	// Base sends requests; default http.DefaultTransport.
	Base http.RoundTripper
	// Attempts is the most that a request is sent, the first included; at least 1, default 4.
	Attempts int
	// Min and Max bound the random wait before the next attempt: it is drawn from 0 to
	// Min doubled with each attempt, at most Max. Defaults 200 ms and 30 s.
	Min, Max time.Duration
	// Deadline bounds a request with all its attempts and waits, in addition to its context;
	// default 2 min. A wait that would pass it is not begun: the last answer is returned.
	Deadline time.Duration
	// Wait, if set, takes a permit before each attempt, such as a limiter's. It ends with ctx.
	Wait func(ctx context.Context) error
	// Breaker, if set, is asked before the permit.
	Breaker Breaker
	// Random is in [0, 1); default math/rand.
	Random func() float64
}

// Transport is an http.RoundTripper. It is safe for concurrent use.
type Transport struct{ c Config }

// New checks a configuration and fills in its defaults.
func New(c Config) (*Transport, error) {
	if c.Base == nil {
		c.Base = http.DefaultTransport
	}
	if c.Attempts == 0 {
		c.Attempts = 4
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&c.Min, 200 * time.Millisecond}, {&c.Max, 30 * time.Second}, {&c.Deadline, 2 * time.Minute}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if c.Random == nil {
		c.Random = rand.Float64
	}
	if c.Attempts < 1 || c.Min < 0 || c.Max < c.Min || c.Deadline < 0 {
		return nil, fmt.Errorf("%w: attempts %d, min %v, max %v, deadline %v", ErrConfig, c.Attempts, c.Min, c.Max, c.Deadline)
	}
	return &Transport{c}, nil
}

// RoundTrip implements http.RoundTripper. Only a request that may be repeated is: GET, HEAD,
// OPTIONS, PUT, DELETE, or one with an Idempotency-Key, whose body can be had again
// (GetBody). The last answer is returned whatever its status.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	until := time.Now().Add(t.c.Deadline)
	if d, ok := r.Context().Deadline(); ok && d.Before(until) {
		until = d
	}
	for attempt := 1; ; attempt++ {
		res, err := t.attempt(r)
		again := attempt < t.c.Attempts && repeatable(r) && worth(r, res, err)
		wait := time.Duration(0)
		if again {
			wait = t.pause(attempt, res)
			again = time.Now().Add(wait).Before(until)
		}
		if !again {
			return res, err
		}
		next, failed := rewind(r)
		if failed != nil {
			return res, err
		}
		discard(res)
		if stopped := sleep(r.Context(), wait); stopped != nil {
			return nil, stopped
		}
		r = next
	}
}

// attempt sends a request once. The breaker comes before the permit: a permit for what is
// not sent would be lost.
func (t *Transport) attempt(r *http.Request) (*http.Response, error) {
	done := func(Verdict) {}
	if t.c.Breaker != nil {
		allowed, err := t.c.Breaker.Allow()
		if err != nil {
			closeBody(r)
			return nil, errors.Join(ErrOpen, err)
		}
		done = allowed
	}
	if t.c.Wait != nil {
		if err := t.c.Wait(r.Context()); err != nil {
			done(Neutral)
			closeBody(r)
			return nil, err
		}
	}
	res, err := t.c.Base.RoundTrip(r)
	done(verdict(r, res, err))
	return res, err
}

func verdict(r *http.Request, res *http.Response, err error) Verdict {
	switch {
	case err != nil && r.Context().Err() != nil:
		return Neutral
	case err != nil || res.StatusCode >= 500:
		return Failure
	case res.StatusCode == http.StatusTooManyRequests:
		return Neutral
	}
	return Success
}

// worth reports whether another attempt may end better.
func worth(r *http.Request, res *http.Response, err error) bool {
	if err != nil {
		return r.Context().Err() == nil && !errors.Is(err, ErrOpen)
	}
	return res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= 500 && res.StatusCode != http.StatusNotImplemented
}

func repeatable(r *http.Request) bool {
	switch r.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete:
	default:
		if r.Header.Get("Idempotency-Key") == "" {
			return false
		}
	}
	return r.Body == nil || r.Body == http.NoBody || r.GetBody != nil
}

// pause is the service's Retry-After where it gives one, and else full jitter:
// https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
func (t *Transport) pause(attempt int, res *http.Response) time.Duration {
	most := t.c.Max
	if shifted := t.c.Min << min(attempt, 30); shifted > 0 && shifted>>min(attempt, 30) == t.c.Min {
		most = min(most, shifted)
	}
	jitter := time.Duration(t.c.Random() * float64(most))
	if res == nil {
		return jitter
	}
	asked, ok := retryafter.Parse(res.Header.Get("Retry-After"), time.Now())
	if !ok {
		return jitter
	}
	// Everybody was told the same: come a little later, and not together.
	return asked + time.Duration(t.c.Random()*float64(t.c.Min))
}

// rewind is the request once more, with its body from the beginning.
func rewind(r *http.Request) (*http.Request, error) {
	next := r.Clone(r.Context())
	if r.GetBody == nil {
		return next, nil
	}
	body, err := r.GetBody()
	next.Body = body
	return next, err
}

// mostDiscarded is what is read of an answer that nobody wants, to keep its connection.
const mostDiscarded = 64 << 10

func discard(res *http.Response) {
	if res == nil {
		return
	}
	_, _ = io.CopyN(io.Discard, res.Body, mostDiscarded)
	_ = res.Body.Close()
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
