package demoshop

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/anteroom/anteroom/pass"
)

func ask(t *testing.T, h http.Handler, method, path string, form url.Values, inside bool) (*httptest.ResponseRecorder, *html.Node) {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if inside {
		r.Header.Set(Header, "abcdefghijklmnopqrstuv")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	root, err := html.Parse(strings.NewReader(w.Body.String()))
	if err != nil {
		t.Fatal(err)
	}
	return w, root
}

// values collects the values of an attribute of all elements with this tag.
func values(root *html.Node, tag, attribute string) (out []string) {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Data != tag {
			continue
		}
		for _, a := range n.Attr {
			if a.Key == attribute {
				out = append(out, a.Val)
			}
		}
	}
	return out
}

func TestShopping(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, time.March, 9, 12, 0, 0, 0, time.UTC) // a Tuesday
	shop := New(Config{LeavePath: "/r/demo/leave", Now: func() time.Time { return now }})
	for _, c := range []struct {
		method, path, count string
		status              int
		says                string
	}{
		{"GET", "/", "", 200, "Paper Lanterns"},
		{"GET", "/events/arcade", "", 200, "How many?"},
		{"POST", "/events/arcade/checkout", "3", 200, "3 tickets for Paper Lanterns, 20 March, The Old Arcade. That is €84"},
		{"POST", "/events/arcade/checkout", "1", 200, "1 ticket for"},
		{"POST", "/events/arcade/checkout", "5", 422, "How many?"},
		{"POST", "/events/arcade/checkout", "-1", 422, "How many?"},
		{"POST", "/events/arcade/checkout", "", 422, "How many?"},
		{"GET", "/events/nowhere", "", 404, "There is no such page"},
		{"POST", "/events/nowhere/checkout", "1", 404, "There is no such page"},
		{"GET", "/anything", "", 404, "There is no such page"},
		{"GET", "/events/arcade/checkout", "", 405, ""},
	} {
		w, _ := ask(t, shop, c.method, c.path, url.Values{"count": {c.count}}, true)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s %s count=%s: status %d, want %d with %q; body\n%s", c.method, c.path, c.count, w.Code, c.status, c.says, w.Body)
		}
		if c.status != http.StatusMethodNotAllowed && w.Header().Get("Cache-Control") != "no-store, private" {
			t.Errorf("%s %s: Cache-Control %q", c.method, c.path, w.Header().Get("Cache-Control"))
		}
	}
}

func TestEveryEventLeadsToItsPage(t *testing.T) {
	t.Parallel()
	shop := New(Config{})
	_, root := ask(t, shop, "GET", "/", nil, false)
	links := 0
	for _, href := range values(root, "a", "href") {
		if strings.HasPrefix(href, "/events/") {
			links++
			if w, _ := ask(t, shop, "GET", href, nil, false); w.Code != http.StatusOK {
				t.Errorf("%s answers %d", href, w.Code)
			}
		}
	}
	if links != 3 {
		t.Errorf("%d events, want 3", links)
	}
}

func TestShowsWhoIsInside(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		leavePath string
		inside    bool
		bar       bool
		forms     int
	}{
		{"with a pass", "/r/demo/leave", true, true, 1},
		{"without", "/r/demo/leave", false, false, 0},
		{"nowhere to leave to", "", true, true, 0},
	} {
		w, root := ask(t, New(Config{LeavePath: c.leavePath}), "GET", "/", nil, c.inside)
		if got := strings.Contains(w.Body.String(), "You are inside."); got != c.bar {
			t.Errorf("%s: the bar is shown = %v, want %v", c.name, got, c.bar)
		}
		actions := values(root, "form", "action")
		if len(actions) != c.forms || c.forms == 1 && actions[0] != c.leavePath {
			t.Errorf("%s: forms to %v, want %d to %q", c.name, actions, c.forms, c.leavePath)
		}
	}
}

func TestTellsHowLongTheVisitLasts(t *testing.T) {
	t.Parallel()
	key, err := pass.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	signer, err := pass.NewSigner("test", key)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	token, _, err := signer.Sign("demo", "abcdefghijklmnopqrstuv", 1, now, now.Add(2*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	gate := pass.Middleware(pass.Config{Room: "demo", Verifier: pass.Verifier{Keys: signer.Keys()}, QueueURL: "/r/demo"})
	for later, want := range map[time.Duration]string{
		0: "About 2 minutes left", 45 * time.Second: "About a minute left", 100 * time.Second: "Less than a minute left",
	} {
		shop := New(Config{Gate: gate, Now: func() time.Time { return now.Add(later) }})
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		shop.ServeHTTP(w, r)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("after %v: status %d, want %q in\n%s", later, w.Code, want, w.Body)
		}
	}
}

func TestProgrammeIsStillToCome(t *testing.T) {
	t.Parallel()
	for day := range 400 {
		now := time.Date(2027, time.January, 1+day, 23, 30, 0, 0, time.UTC)
		for i, e := range programme(now) {
			if ahead := e.Date.Sub(now); e.Date.Weekday() != time.Weekday((5+i)%7) || ahead < 9*24*time.Hour || ahead > 20*24*time.Hour {
				t.Errorf("at %v event %d is on %v", now, i, e.Date)
			}
		}
	}
}

func TestGateStandsBeforeThePages(t *testing.T) {
	t.Parallel()
	closed := func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) })
	}
	shop := New(Config{Gate: closed})
	for path, want := range map[string]int{"/": 429, "/events/arcade": 429, "/nothing": 429, cssPath: 200, scriptPath: 200, "/demo-assets/other": 429} {
		if w, _ := ask(t, shop, "GET", path, nil, false); w.Code != want {
			t.Errorf("GET %s: status %d, want %d", path, w.Code, want)
		}
	}
}

func TestNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	shop := New(Config{LeavePath: "/r/demo/leave"})
	for _, path := range []string{"/", "/events/harbour", "/nothing"} {
		w, root := ask(t, shop, "GET", path, nil, true)
		if csp := w.Header().Get("Content-Security-Policy"); strings.Contains(csp, "unsafe") || !strings.HasPrefix(csp, "default-src 'none'") {
			t.Errorf("%s: CSP %q", path, csp)
		}
		for _, src := range append(values(root, "script", "src"), values(root, "img", "src")...) {
			if src != scriptPath {
				t.Errorf("%s loads %s", path, src)
			}
		}
		for _, href := range values(root, "link", "href") {
			if href != cssPath && !strings.HasPrefix(href, "data:") {
				t.Errorf("%s loads %s", path, href)
			}
		}
	}
}
