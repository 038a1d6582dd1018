package page

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// call is a request that the script made.
type call struct {
	method, path, key, body string
	ticket                  bool // the cookie of an earlier join came along
}

// site is a room's API whose answers a test decides, and its queue page.
type site struct {
	*httptest.Server
	mu     sync.Mutex
	calls  []call
	answer func(c call, n int) (status int, body string) // n counts the calls of this method and path
	cookie bool                                          // a join sets a ticket's cookie
	// retryAfter goes with every 503.
	retryAfter string
}

func newSite(t *testing.T, view View, answer func(c call, n int) (int, string)) *site {
	t.Helper()
	s := &site{answer: answer}
	mux := http.NewServeMux()
	mux.Handle(StaticPrefix, Static())
	mux.HandleFunc("GET /r/sale", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", CSP())
		_ = Page(view).Render(r.Context(), w)
	})
	mux.HandleFunc("GET /shop", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, "<title>Shop</title><h1 id=shop>Inside</h1>")
	})
	mux.HandleFunc("/v1/rooms/sale/", s.api)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *site) api(w http.ResponseWriter, r *http.Request) {
	var body json.RawMessage
	_ = json.NewDecoder(r.Body).Decode(&body)
	_, err := r.Cookie("ticket")
	c := call{r.Method, strings.TrimPrefix(r.URL.Path, "/v1/rooms/sale"), r.Header.Get("Idempotency-Key"), string(body), err == nil}
	s.mu.Lock()
	s.calls = append(s.calls, c)
	n := 0
	for _, was := range s.calls {
		if was.method == c.method && was.path == c.path {
			n++
		}
	}
	s.mu.Unlock()
	status, text := s.answer(c, n)
	w.Header().Set("Content-Type", "application/json")
	if strings.HasPrefix(text, "<") {
		w.Header().Set("Content-Type", "text/html")
	}
	if s.cookie {
		http.SetCookie(w, &http.Cookie{Name: "ticket", Value: "t", Path: "/", HttpOnly: true})
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", s.retryAfter)
	}
	w.WriteHeader(status)
	_, _ = fmt.Fprint(w, text)
}

// made are the calls so far of one method and path.
func (s *site) made(method, path string) (out []call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.method == method && c.path == path {
			out = append(out, c)
		}
	}
	return out
}

func standing(position int) string {
	return fmt.Sprintf(`{"state":"waiting","position":%d,"ahead":%d,"eta":{"low_s":250,"high_s":420},"poll_after_ms":500,"keep_s":600,"message":""}`, position, position-1)
}

const (
	itsTurn  = `{"state":"admitted","claim_by_s":30,"poll_after_ms":500}`
	toShop   = `{"pass":"x","redirect":"/shop","expires_in_s":60}`
	noTicket = `{"type":"/problems/rejoin","title":"Join again"}`
)

// cdpNewDocument runs a script in every document before the page's own.
func cdpNewDocument(ctx context.Context, source string) (cdppage.AddScriptToEvaluateOnNewDocumentResult, error) {
	return chromedp.Call(ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: source})
}

// previewSite shows every state in every language: /?state=…&lang=…
func previewSite(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(StaticPrefix, Static())
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		v, ok := Preview(View{
			Room: "sale", Title: "Winter sale", Message: "Doors at eight.", Lang: r.URL.Query().Get("lang"), KeepS: 600, Resume: true, Proof: true,
		}, r.URL.Query().Get("state"))
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = Page(v).Render(r.Context(), w)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}
