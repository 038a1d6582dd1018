package pass_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anteroom/anteroom/pass"
)

// anteroom is a fake server: each call is answered by a hook, and its body kept.
type anteroom struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
}

func newAnteroom(t *testing.T, path string, answer http.HandlerFunc) *anteroom {
	t.Helper()
	a := &anteroom{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		a.mu.Lock()
		a.bodies = append(a.bodies, string(body))
		a.mu.Unlock()
		if r.Method != http.MethodPost || r.URL.EscapedPath() != path || r.Header.Get("Content-Type") != "application/json" || r.URL.RawQuery != "" {
			t.Errorf("Anteroom was asked %s %s with %v", r.Method, r.URL, r.Header)
		}
		answer(w, r)
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *anteroom) asked() []string { a.mu.Lock(); defer a.mu.Unlock(); return slices.Clone(a.bodies) }

func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// redeemed is the answer 200 of Anteroom.
func redeemed(token string, expiresIn int) string {
	data, _ := json.Marshal(map[string]any{"pass": token, "expires_in_s": expiresIn})
	return string(data)
}

func handover(t testing.TB, s *pass.Signer) string {
	t.Helper()
	token, _, err := s.SignHandover(pass.Claims{Room: "sale", Visitor: "visitor-1", Generation: 2}, noon)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// roundTrip is a client without a network.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestHandover_SlowAnteroomCostsTwoSeconds(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	token := handover(t, s)
	synctest.Test(t, func(t *testing.T) {
		var lines bytes.Buffer
		_, h := gated(s, func(g *pass.Config) {
			g.AnteroomURL, g.Logger = "https://queue.test", slog.New(slog.NewTextHandler(&lines, nil))
			g.Client = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			})}
		})
		began := time.Now()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request("GET", "http://shop.test"+pass.AddHandover(page, token), "Sec-Fetch-Mode", "navigate"))
		if took := time.Since(began); took != 2*time.Second || w.Header().Get("Location") != queue {
			t.Errorf("after %v to %q, want after 2s to %q", took, w.Header().Get("Location"), queue)
		}
		if got := lines.String(); strings.Count(got, "hand-over failed") != 1 || strings.Contains(got, token) {
			t.Errorf("log %q", got)
		}
	})
}

func TestHandover_BodyThatTricklesIsCutOff(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	token := handover(t, s)
	synctest.Test(t, func(t *testing.T) {
		_, h := gated(s, func(g *pass.Config) {
			g.AnteroomURL = "https://queue.test"
			g.Client = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Body: io.NopCloser(trickle{r.Context()})}, nil
			})}
		})
		began := time.Now()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request("GET", "http://shop.test"+pass.AddHandover(page, token), "Sec-Fetch-Mode", "navigate"))
		if took := time.Since(began); took > 2*time.Second || w.Header().Get("Location") != queue {
			t.Errorf("after %v to %q, want within 2s to %q", took, w.Header().Get("Location"), queue)
		}
	})
}

// trickle is a body of one space every 100 ms.
type trickle struct{ ctx context.Context }

func (b trickle) Read(p []byte) (int, error) {
	select {
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	case <-time.After(100 * time.Millisecond):
		p[0] = ' '
		return 1, nil
	}
}
