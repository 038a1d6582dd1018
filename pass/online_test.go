package pass_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anteroom/anteroom/pass"
)

// checks is a client whose questions are counted and answered by a hook.
type checks struct {
	asked  atomic.Int32
	answer atomic.Pointer[func(*http.Request) (*http.Response, error)]
}

func (c *checks) RoundTrip(r *http.Request) (*http.Response, error) {
	c.asked.Add(1)
	return (*c.answer.Load())(r)
}

func (c *checks) do(f func(*http.Request) (*http.Response, error)) { c.answer.Store(&f) }

func (c *checks) says(status int, body string) {
	c.do(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body))}, nil
	})
}

func (c *checks) hang() {
	c.do(func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() })
}

func (c *checks) online(t *testing.T, change func(*pass.OnlineConfig)) *pass.Online {
	t.Helper()
	cfg := pass.OnlineConfig{AnteroomURL: "https://queue.test/", Client: &http.Client{Transport: c}}
	if change != nil {
		change(&cfg)
	}
	o, err := pass.NewOnline(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (c *checks) wantAsked(t *testing.T, want int32) {
	t.Helper()
	if got := c.asked.Load(); got != want {
		t.Fatalf("Anteroom was asked %d times, want %d", got, want)
	}
}

const valid, ended = `{"valid":true,"reason":"pass","sub":"visitor-1"}`, `{"valid":false,"reason":"ended"}`

func wantCheck(t *testing.T, o *pass.Online, token string, want bool) {
	t.Helper()
	if got, err := o.Check(t.Context(), "sale", token); err != nil || got != want {
		t.Fatalf("Check(%s) says %v, %v; want %v", token, got, err, want)
	}
}

func TestOnline_AsksAnteroom(t *testing.T) {
	t.Parallel()
	server := newAnteroom(t, "/v1/rooms/sale%2F..%2Fvip/check", says(200, valid))
	o, err := pass.NewOnline(pass.OnlineConfig{AnteroomURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := o.Check(t.Context(), "sale/../vip", "a.b.c"); !ok || err != nil {
		t.Errorf("Check says %v, %v", ok, err)
	}
	if got := server.asked(); len(got) != 1 || got[0] != `{"pass":"a.b.c"}` {
		t.Errorf("Anteroom was asked %q", got)
	}
}

func TestOnline_AnswerCountsForASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c checks
		c.says(200, valid)
		o := c.online(t, nil)
		wantCheck(t, o, "a", true)
		wantCheck(t, o, "b", true)
		c.wantAsked(t, 2)
		c.says(200, ended) // a release
		time.Sleep(999 * time.Millisecond)
		wantCheck(t, o, "a", true)
		c.wantAsked(t, 2)
		time.Sleep(time.Millisecond)
		wantCheck(t, o, "a", false)
		wantCheck(t, o, "a", false)
		c.wantAsked(t, 3)
		if ok, err := o.Check(t.Context(), "vip", "a"); ok || err != nil { // an answer is of its room
			t.Errorf("Check says %v, %v", ok, err)
		}
		c.wantAsked(t, 4)
	})
}

func TestOnline_OneQuestionForAllWhoWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c checks
		release := make(chan struct{})
		c.do(func(r *http.Request) (*http.Response, error) {
			select {
			case <-release:
			case <-r.Context().Done(): // the first caller's going must not end it
				return nil, r.Context().Err()
			}
			return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(valid))}, nil
		})
		o := c.online(t, nil)
		gone, cancel := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() { _, err := o.Check(gone, "sale", "a"); left <- err }()
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) || !errors.Is(err, pass.ErrOnline) {
			t.Errorf("the caller that gave up got %v", err)
		}
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if ok, err := o.Check(context.Background(), "sale", "a"); !ok || err != nil {
					t.Errorf("Check says %v, %v", ok, err)
				}
			})
		}
		synctest.Wait()
		close(release)
		wg.Wait()
		c.wantAsked(t, 1)
	})
}

func TestOnline_WhatIsNoAnswer(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]struct {
		status int
		body   string
	}{
		"503": {503, valid}, "404": {404, `{"status":404}`}, "201": {201, valid}, "HTML": {200, "<html>"}, "empty": {200, ""},
		"says nothing": {200, `{"reason":"pass"}`}, "null": {200, `{"valid":null}`}, "text": {200, `{"valid":"true"}`},
		"redirect": {302, valid}, "oversized": {200, valid + strings.Repeat(" ", 16<<10)},
	} {
		var c checks
		c.says(answer.status, answer.body)
		o := c.online(t, nil)
		for range 2 {
			if ok, err := o.Check(t.Context(), "sale", "a"); ok || !errors.Is(err, pass.ErrOnline) || strings.Contains(err.Error(), "html") {
				t.Errorf("%s: Check says %v, %v", name, ok, err)
			}
		}
		c.wantAsked(t, 2) // what was not answered is asked again
	}
}

func TestOnline_AnteroomThatHangsCostsFewVisitorsTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c checks
		var lines bytes.Buffer
		c.hang()
		o := c.online(t, func(cfg *pass.OnlineConfig) { cfg.Logger = slog.New(slog.NewTextHandler(&lines, nil)) })
		began := time.Now()
		for range 100 {
			if _, err := o.Check(t.Context(), "sale", "a"); !errors.Is(err, pass.ErrOnline) || !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("Check says %v", err)
			}
		}
		if took := time.Since(began); took != 5*250*time.Millisecond {
			t.Errorf("100 checks took %v, want five deadlines", took)
		}
		c.wantAsked(t, 5)
		time.Sleep(time.Second)
		_, _ = o.Check(t.Context(), "sale", "a")
		c.wantAsked(t, 6) // one tries again
		_, _ = o.Check(t.Context(), "sale", "b")
		c.wantAsked(t, 6)

		c.says(200, valid)
		time.Sleep(time.Second)
		wantCheck(t, o, "a", true)
		wantCheck(t, o, "b", true)
		c.wantAsked(t, 8)
		if got := lines.String(); strings.Count(got, "level=WARN") != 1 || strings.Count(got, "is back") != 1 {
			t.Errorf("log %s", got)
		}
	})
}

func TestOnline_OneBadAnswerStopsNothing(t *testing.T) {
	t.Parallel()
	var c checks
	o := c.online(t, nil)
	for i := range int32(10) {
		c.says(503, "")
		if _, err := o.Check(t.Context(), "sale", "a"); err == nil {
			t.Fatal("a 503 was taken for an answer")
		}
		c.says(200, valid)
		wantCheck(t, o, string('b'+i), true)
		c.wantAsked(t, 2*(i+1))
	}
}

func TestOnline_KeepsNoMoreThanEntries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c checks
		c.says(200, valid)
		o := c.online(t, func(cfg *pass.OnlineConfig) { cfg.Entries, cfg.Fresh = 4, time.Hour })
		for _, token := range []string{"a", "b", "c", "d", "e"} { // c d | e
			wantCheck(t, o, token, true)
		}
		wantCheck(t, o, "d", true)
		c.wantAsked(t, 5)
		wantCheck(t, o, "a", true)
		c.wantAsked(t, 6)
	})
}

// checker is a Checker of one answer.
type checker struct {
	valid bool
	err   error
	calls atomic.Int32
}

func (c *checker) Check(context.Context, string, string) (bool, error) {
	c.calls.Add(1)
	return c.valid, c.err
}

func TestMiddleware_OnlineDecides(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	good := sign(t, s, "sale", 1, noon.Add(time.Minute))
	late := sign(t, s, "sale", 1, noon.Add(-time.Minute))
	away := errors.New("away")
	for name, c := range map[string]struct {
		token      string
		maxSession time.Duration
		valid      bool
		err        error
		onError    pass.OnError
		in         bool
		asked      int32
	}{
		"inside":                       {token: good, valid: true, in: true, asked: 1},
		"released":                     {token: good, asked: 1},
		"away: the offline check":      {token: good, err: away, in: true, asked: 1},
		"away: refuse":                 {token: good, err: away, onError: pass.OnErrorRefuse, asked: 1},
		"slid on":                      {token: late, maxSession: time.Hour, valid: true, in: true, asked: 1},
		"slid on, then released":       {token: late, maxSession: time.Hour, asked: 1},
		"ended, and away":              {token: late, maxSession: time.Hour, err: away, asked: 1},
		"ended before max_session":     {token: late, maxSession: 30 * time.Second, valid: true},
		"ended, sessions do not slide": {token: late, valid: true},
		"forged":                       {token: good + "x", valid: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			online := &checker{valid: c.valid, err: c.err}
			shop, h := gated(s, func(g *pass.Config) {
				g.Online, g.OnlineError, g.MaxSession = online, c.onError, c.maxSession
			})
			w := httptest.NewRecorder()
			h.ServeHTTP(w, request("GET", "http://shop.test/", "Sec-Fetch-Mode", "navigate", "Cookie", "anteroom_p_sale="+c.token))
			if (shop.seen != nil) != c.in || online.calls.Load() != c.asked {
				t.Errorf("reached the shop: %v after %d questions, want %v after %d", shop.seen != nil, online.calls.Load(), c.in, c.asked)
			}
			if len(w.Header().Values("Set-Cookie")) != 0 {
				t.Errorf("headers %v", w.Header())
			}
		})
	}
}

func TestMiddleware_SlidingNeedsOnline(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	shop, h := gated(s, func(g *pass.Config) { g.MaxSession = time.Hour })
	h.ServeHTTP(httptest.NewRecorder(), request("GET", "http://shop.test/", "Cookie", "anteroom_p_sale="+sign(t, s, "sale", 1, noon.Add(-time.Minute))))
	if shop.seen != nil {
		t.Error("an expired pass was let in though nobody was asked")
	}
}

func BenchmarkMiddleware_Online(b *testing.B) {
	s := newSigner(b, newKey(b))
	h := pass.Middleware(pass.Config{Room: "sale", Verifier: at(s, noon), QueueURL: queuePage, Online: &checker{valid: true}})(http.NotFoundHandler())
	r := request("GET", "http://shop.test/?a=1", "Cookie", "anteroom_p_sale="+sign(b, s, "sale", 1, noon.Add(time.Minute)))
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
}
