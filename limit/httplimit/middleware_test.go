package httplimit_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/limit"
	"github.com/anteroom/anteroom/limit/httplimit"
	"github.com/anteroom/anteroom/limit/memory"
	"github.com/anteroom/anteroom/limit/refused"
)

// fake is a store whose answer the test decides.
type fake struct {
	decision limit.Decision
	err      error
}

func (f *fake) All(context.Context, []limit.Check) (limit.Decision, error) {
	return f.decision, f.err
}

func (f *fake) Peek(context.Context, *limit.Limit, string) (limit.Decision, error) {
	return f.decision, f.err
}

func (f *fake) Reset(context.Context, *limit.Limit, string) error { return f.err }

func rule(t *testing.T) *limit.Limit {
	t.Helper()
	l, err := limit.New(limit.Rule{Name: "api", Algorithm: limit.GCRA, Rate: limit.Rate{Count: 100, Per: time.Minute}, Burst: 10, MaxCost: 5})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func ask(t *testing.T, c httplimit.Config) (*httptest.ResponseRecorder, bool) {
	t.Helper()
	if c.Checks == nil {
		l := rule(t)
		c.Checks = func(*http.Request) ([]limit.Check, error) { return []limit.Check{{Limit: l, Key: "k", Cost: 1}}, nil }
	}
	door, err := httplimit.New(c)
	if err != nil {
		t.Fatal(err)
	}
	reached := false
	w := httptest.NewRecorder()
	door(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true })).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
	return w, reached
}

func TestMiddleware_AnswersByTheDecision(t *testing.T) {
	t.Parallel()
	allowed := limit.Decision{Allowed: true, Limit: 10, Remaining: 7, ResetAfter: 1500 * time.Millisecond, Rule: "api"}
	refused := limit.Decision{Limit: 10, RetryAfter: 2100 * time.Millisecond, ResetAfter: 6 * time.Second, Rule: "api"}
	for name, c := range map[string]struct {
		store   fake
		config  httplimit.Config
		status  int
		reached bool
		retry   string
		fields  map[string]string
	}{
		"allowed":                {fake{allowed, nil}, httplimit.Config{OnError: httplimit.FailClosed, Fields: httplimit.Triple | httplimit.Legacy}, 200, true, "", map[string]string{"RateLimit": `"api";r=7;t=2`, "RateLimit-Policy": `"api";q=100;w=60`, "RateLimit-Remaining": "7", "X-RateLimit-Reset": "2"}},
		"refused":                {fake{refused, nil}, httplimit.Config{OnError: httplimit.FailOpen}, 429, false, "3", map[string]string{"RateLimit": `"api";r=0;t=6`, "X-RateLimit-Limit": "", "Cache-Control": "no-store", "Content-Type": "application/problem+json"}},
		"refused in the shadow":  {fake{refused, nil}, httplimit.Config{OnError: httplimit.FailClosed, Shadow: true}, 200, true, "", nil},
		"store away, closed":     {fake{limit.Decision{}, limit.ErrStore}, httplimit.Config{OnError: httplimit.FailClosed}, 503, false, "1", nil},
		"store away, open":       {fake{limit.Decision{}, limit.ErrStore}, httplimit.Config{OnError: httplimit.FailOpen}, 200, true, "", nil},
		"a caller's own mistake": {fake{limit.Decision{}, limit.ErrCost}, httplimit.Config{OnError: httplimit.FailOpen}, 400, false, "", nil},
		"no key": {fake{allowed, nil}, httplimit.Config{OnError: httplimit.FailOpen, Checks: func(*http.Request) ([]limit.Check, error) {
			return nil, errors.New("no address")
		}}, 400, false, "", nil},
		"no limit": {fake{limit.Decision{}, limit.ErrStore}, httplimit.Config{OnError: httplimit.FailClosed, Checks: func(*http.Request) ([]limit.Check, error) { return nil, nil }}, 200, true, "", nil},
	} {
		c.config.Store = &c.store
		observed := 0
		c.config.Observe = func(limit.Decision, error) { observed++ }
		w, reached := ask(t, c.config)
		if w.Code != c.status || reached != c.reached || w.Header().Get("Retry-After") != c.retry {
			t.Errorf("%s: status %d, handler reached %v, Retry-After %q; want %d, %v, %q", name, w.Code, reached, w.Header().Get("Retry-After"), c.status, c.reached, c.retry)
		}
		for field, want := range c.fields {
			if got := w.Header().Get(field); got != want {
				t.Errorf("%s: %s is %q, want %q", name, field, got, want)
			}
		}
		var p struct {
			Status int
			Rule   string
		}
		if c.status >= 400 && (json.Unmarshal(w.Body.Bytes(), &p) != nil || p.Status != c.status) {
			t.Errorf("%s: the body is %s", name, w.Body)
		}
	}
}

func TestNew_WantsAChoice(t *testing.T) {
	t.Parallel()
	none := func(*http.Request) ([]limit.Check, error) { return nil, nil }
	for _, c := range []httplimit.Config{{}, {Store: &fake{}, Checks: none}, {Store: &fake{}, OnError: httplimit.FailOpen}, {Checks: none, OnError: httplimit.FailOpen}} {
		if _, err := httplimit.New(c); !errors.Is(err, httplimit.ErrConfig) {
			t.Errorf("%+v: %v, want ErrConfig", c, err)
		}
	}
}

// The answer names the rule that refused, and the policies of all.
func TestMiddleware_SeveralLimits(t *testing.T) {
	t.Parallel()
	all, err := limit.New(limit.Rule{Name: "all", Algorithm: limit.GCRA, Rate: limit.Rate{Count: 9, Per: 500 * time.Millisecond}, Burst: 2, MaxCost: 1})
	if err != nil {
		t.Fatal(err)
	}
	user := rule(t)
	store := memory.New(memory.WithClock(func() int64 { return 1 }))
	c := httplimit.Config{Store: store, OnError: httplimit.FailClosed, Checks: func(*http.Request) ([]limit.Check, error) {
		return []limit.Check{{Limit: user, Key: "k", Cost: 1}, {Limit: all, Key: "global", Cost: 1}}, nil
	}}
	for i, want := range []int{200, 200, 429, 429} {
		w, _ := ask(t, c)
		if w.Code != want || w.Header().Get("RateLimit-Policy") != `"api";q=100;w=60, "all";q=9;w=1` || !strings.HasPrefix(w.Header().Get("RateLimit"), `"all";r=`) {
			t.Errorf("call %d: status %d, %v; want %d by all", i, w.Code, w.Header(), want)
		}
		if want == 429 && (w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), `"rule":"all"`)) {
			t.Errorf("call %d: Retry-After %q, %s; want 1 and the rule", i, w.Header().Get("Retry-After"), w.Body)
		}
	}
	if d, err := store.Peek(t.Context(), user, "k"); err != nil || d.Remaining != 8 {
		t.Errorf("refused calls took from the other limit: %d remain, %v; want 8", d.Remaining, err)
	}
}

// RL-07: less than a second left is told as a second, never as 0, and is a refusal.
func TestMiddleware_RL07_FractionsAreRoundedUp(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{time.Microsecond: "1", 400 * time.Millisecond: "1", time.Second: "1", time.Second + 1: "2"} {
		w, reached := ask(t, httplimit.Config{Store: &fake{decision: limit.Decision{RetryAfter: wait, Rule: "api"}}, OnError: httplimit.FailOpen})
		if got := w.Header().Get("Retry-After"); got != want || reached || w.Code != 429 {
			t.Errorf("%v left: status %d, Retry-After %s; want 429, %s", wait, w.Code, got, want)
		}
	}
}

// A caller who is known to be refused does not reach the store.
func TestMiddleware_KnownRefusalsAskNobody(t *testing.T) {
	t.Parallel()
	inner := &fake{decision: limit.Decision{RetryAfter: time.Hour, Rule: "api"}}
	c := httplimit.Config{Store: refused.New(inner, 0, nil), OnError: httplimit.FailOpen}
	l := rule(t)
	c.Checks = func(*http.Request) ([]limit.Check, error) { return []limit.Check{{Limit: l, Key: "k", Cost: 1}}, nil }
	ask(t, c)
	inner.err = limit.ErrStore
	if w, _ := ask(t, c); w.Code != 429 {
		t.Errorf("status %d while the store is away, want 429 from memory", w.Code)
	}
}

func BenchmarkRefused(b *testing.B) {
	l, err := limit.New(limit.Rule{Name: "api", Algorithm: limit.GCRA, Rate: limit.Rate{Count: 100, Per: time.Minute}, Burst: 10, MaxCost: 5})
	if err != nil {
		b.Fatal(err)
	}
	checks := []limit.Check{{Limit: l, Key: "k", Cost: 1}}
	door, err := httplimit.New(httplimit.Config{
		Store: refused.New(&fake{limit.Decision{Limit: 10, RetryAfter: time.Hour, Rule: "api"}, nil}, 0, nil), OnError: httplimit.FailClosed,
		Checks: func(*http.Request) ([]limit.Check, error) { return checks, nil },
	})
	if err != nil {
		b.Fatal(err)
	}
	h := door(http.NotFoundHandler())
	r := httptest.NewRequestWithContext(b.Context(), "GET", "/", nil)
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
}
