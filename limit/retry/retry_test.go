package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anteroom/anteroom/limit/retry"
)

// answers gives one after the other, and remembers when and what it was asked.
type answers struct {
	list   []func() (*http.Response, error)
	at     []time.Time
	bodies []string
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	a.at = append(a.at, time.Now())
	body := ""
	if r.Body != nil {
		b, _ := io.ReadAll(r.Body)
		_ = r.Body.Close()
		body = string(b)
	}
	a.bodies = append(a.bodies, body)
	n := min(len(a.at), len(a.list)) - 1
	return a.list[n]()
}

func status(code int, headers ...string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		h := http.Header{}
		for i := 0; i+1 < len(headers); i += 2 {
			h.Set(headers[i], headers[i+1])
		}
		return &http.Response{StatusCode: code, Header: h, Body: io.NopCloser(strings.NewReader("x"))}, nil
	}
}

func broken() (*http.Response, error) { return nil, errors.New("connection reset") }

func send(t *testing.T, c retry.Config, method, body string, headers ...string) (int, error) {
	t.Helper()
	tr, err := retry.New(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, "http://far.test/", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := tr.RoundTrip(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	return res.StatusCode, nil
}

func half() float64 { return 0.5 }

func TestTransport_WhatIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, header string
		list           []func() (*http.Response, error)
		status, sent   int
	}{
		"a success":                  {"GET", "", []func() (*http.Response, error){status(200)}, 200, 1},
		"429, then well":             {"GET", "", []func() (*http.Response, error){status(429), status(200)}, 200, 2},
		"503 to the end":             {"PUT", "", []func() (*http.Response, error){status(503)}, 503, 4},
		"a broken connection":        {"DELETE", "", []func() (*http.Response, error){broken, status(204)}, 204, 2},
		"404 is an answer":           {"GET", "", []func() (*http.Response, error){status(404)}, 404, 1},
		"501 stays":                  {"GET", "", []func() (*http.Response, error){status(501)}, 501, 1},
		"a POST is not repeated":     {"POST", "", []func() (*http.Response, error){status(503)}, 503, 1},
		"a POST with a key is":       {"POST", "k", []func() (*http.Response, error){status(503), status(201)}, 201, 2},
		"a PATCH without is not":     {"PATCH", "", []func() (*http.Response, error){broken}, 0, 1},
		"a longer wait than allowed": {"GET", "", []func() (*http.Response, error){status(429, "Retry-After", "600"), status(200)}, 429, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := &answers{list: c.list}
			headers := []string{}
			if c.header != "" {
				headers = []string{"Idempotency-Key", c.header}
			}
			got, err := send(t, retry.Config{Base: a, Random: half}, c.method, "body", headers...)
			if got != c.status || (got == 0) != (err != nil) || len(a.at) != c.sent {
				t.Errorf("%s: status %d, %v after %d attempts; want %d after %d", name, got, err, len(a.at), c.status, c.sent)
			}
			for i, b := range a.bodies {
				if b != "body" {
					t.Errorf("%s: attempt %d had the body %q", name, i+1, b)
				}
			}
		})
	}
}

func TestTransport_WaitsAsItIsToldAndElseByFullJitter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		date := time.Now().Add(20 * time.Second).UTC().Format(http.TimeFormat)
		a := &answers{list: []func() (*http.Response, error){status(429, "Retry-After", "7"), status(503, "Retry-After", date), status(500), status(200)}}
		if got, err := send(t, retry.Config{Base: a, Random: half, Min: time.Second, Max: time.Minute}, "GET", ""); got != 200 || err != nil {
			t.Fatalf("status %d, %v", got, err)
		}
		waits := []time.Duration{a.at[1].Sub(a.at[0]), a.at[2].Sub(a.at[1]), a.at[3].Sub(a.at[2])}
		if waits[0] != 7500*time.Millisecond || waits[1] < 12*time.Second || waits[1] > 14*time.Second || waits[2] != 4*time.Second {
			t.Errorf("waited %v; want 7.5 s, until the date and a little, and half of 8 s", waits)
		}
	})
}

func TestTransport_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &answers{list: []func() (*http.Response, error){status(429, "Retry-After", "30")}}
		tr, err := retry.New(retry.Config{Base: a})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://far.test/", nil)
		if res, err := tr.RoundTrip(r); !errors.Is(err, context.Canceled) || res != nil {
			t.Errorf("answered %v, %v", res, err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("ended after %v, want 1 s", took)
		}
	})
}

// counting is a breaker that opens after a number of failures.
type counting struct {
	verdicts []retry.Verdict
	open     bool
}

func (b *counting) Allow() (func(retry.Verdict), error) {
	if b.open {
		return nil, errors.New("resting")
	}
	return func(v retry.Verdict) { b.verdicts = append(b.verdicts, v) }, nil
}

func TestTransport_TheBreakerComesBeforeThePermit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, permits := &counting{}, 0
		c := retry.Config{Breaker: b, Wait: func(context.Context) error { permits++; return nil }, Attempts: 3, Random: half}
		c.Base = &answers{list: []func() (*http.Response, error){status(429), status(502), status(200)}}
		if got, err := send(t, c, "GET", ""); got != 200 || err != nil {
			t.Fatalf("status %d, %v", got, err)
		}
		if want := []retry.Verdict{retry.Neutral, retry.Failure, retry.Success}; fmt.Sprint(b.verdicts) != fmt.Sprint(want) || permits != 3 {
			t.Errorf("verdicts %v with %d permits, want %v with 3", b.verdicts, permits, want)
		}
		b.open = true
		if _, err := send(t, c, "GET", ""); !errors.Is(err, retry.ErrOpen) || permits != 3 {
			t.Errorf("an open breaker: %v, %d permits", err, permits)
		}
		b.open = false
		c.Wait = func(context.Context) error { return errors.New("no permit in time") }
		if _, err := send(t, retry.Config{Breaker: b, Wait: c.Wait, Base: c.Base, Attempts: 1}, "GET", ""); err == nil || b.verdicts[len(b.verdicts)-1] != retry.Neutral {
			t.Errorf("without a permit: %v, verdict %v", err, b.verdicts)
		}
	})
}

func TestNew_RefusesNonsense(t *testing.T) {
	t.Parallel()
	for _, c := range []retry.Config{{Attempts: -1}, {Min: time.Minute, Max: time.Second}, {Min: -1}, {Deadline: -1}} {
		if _, err := retry.New(c); !errors.Is(err, retry.ErrConfig) {
			t.Errorf("%+v: %v, want ErrConfig", c, err)
		}
	}
}

func ExampleNew() {
	tries := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if tries++; tries == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer server.Close()
	transport, err := retry.New(retry.Config{Min: time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &http.Client{Transport: transport}
	res, err := client.Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = res.Body.Close()
	fmt.Println(res.StatusCode, "after", tries, "attempts")
	// Output: 200 after 2 attempts
}
