package page

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	browserlog "github.com/chromedp/cdproto/log"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
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
	return fmt.Sprintf(`{"state":"waiting","position":%d,"ahead":%d,"eta":{"low_s":250,"high_s":420},"poll_after_ms":500,"message":""}`, position, position-1)
}

const (
	itsTurn  = `{"state":"admitted","claim_by_s":30,"poll_after_ms":500}`
	toShop   = `{"pass":"x","redirect":"/shop","expires_in_s":60}`
	noTicket = `{"type":"/problems/rejoin","title":"Join again"}`
)

// openBrowser starts Chromium with nothing remembered. What the page logs as an error by
// itself, a breach of its Content-Security-Policy included, fails the test.
func openBrowser(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if at, err := exec.LookPath(name); err == nil {
			path = at
			break
		}
	}
	if path == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("no Chromium on PATH: CI needs it")
		}
		t.Skip("no Chromium on PATH: install the package chromium to run this test")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(stop)
	return openTab(t, ctx)
}

func openTab(t *testing.T, ctx context.Context) context.Context {
	t.Helper()
	ctx, stop := chromedp.NewContext(ctx)
	t.Cleanup(stop)
	do(t, ctx, chromedp.Navigate("about:blank"))
	err := chromedp.Listen(ctx, func(ev any) {
		switch e := ev.(type) {
		case *browserlog.EventEntryAdded:
			if !strings.Contains(e.Entry.Text, "Failed to load resource") { // the test's own refusals
				t.Errorf("the browser logs: %s", e.Entry.Text)
			}
		case *runtime.EventExceptionThrown:
			t.Errorf("the script throws: %+v", e.ExceptionDetails)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return ctx
}

func do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// until waits for an expression to be true, on this page or one that it leads to.
func until(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	_, err := chromedp.Run(ctx, chromedp.Poll[bool](expression))
	for err != nil && strings.Contains(err.Error(), "-32000") && ctx.Err() == nil {
		_, err = chromedp.Run(ctx, chromedp.Poll[bool](expression))
	}
	if err != nil {
		now, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.title + "\n" + document.body.innerText`))
		t.Fatalf("waiting for %s: %v; the page shows\n%s", expression, err, now)
	}
}

func eval[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

var saleView = View{Room: "sale", Title: "Winter sale", Target: "https://shop.test/a"}

func TestScriptJoinsWaitsAndEnters(t *testing.T) {
	t.Parallel()
	positions := []int{40, 45, 20, 1} // a rise is not shown
	s := newSite(t, saleView, func(c call, n int) (int, string) {
		switch {
		case c.path == "/ticket/claim":
			return 200, toShop
		case c.path == "/ticket/away":
			return 204, ""
		case c.method == http.MethodPost:
			return 201, standing(positions[0])
		case n < len(positions):
			return 200, standing(positions[n])
		}
		return 200, itsTurn
	})
	ctx := openBrowser(t)
	_, err := cdpNewDocument(ctx, `window.seen = []; window.bars = [];
		addEventListener("DOMContentLoaded", () => document.getElementById("queue") && new MutationObserver(() => {
			seen.push(document.getElementById("position").textContent.trim());
			bars.push(document.getElementById("progress").value);
			name = JSON.stringify({ seen, bars, spoken: document.getElementById("spoken").textContent, title: document.title });
		}).observe(document.getElementById("queue"), { subtree: true, childList: true, characterData: true }));`)
	if err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate(s.URL+"/r/sale"))
	until(t, ctx, `location.pathname === "/shop"`)

	var saw struct {
		Seen   []string
		Bars   []float64
		Spoken string
		Title  string
	}
	if err := json.Unmarshal([]byte(eval[string](t, ctx, `name`)), &saw); err != nil {
		t.Fatal(err)
	}
	for _, p := range saw.Seen {
		if p == "45" {
			t.Errorf("a position that rose was shown: %v", saw.Seen)
		}
	}
	for i := 1; i < len(saw.Bars); i++ {
		if saw.Bars[i] < saw.Bars[i-1] {
			t.Errorf("the progress bar went backwards: %v", saw.Bars)
		}
	}
	if saw.Spoken != "You are number 40 in line. Estimated wait: about 4 to 7 minutes." {
		t.Errorf("spoken within the first minute: %q, want the first place only", saw.Spoken)
	}
	if saw.Title != "Your turn! · Winter sale" {
		t.Errorf("title %q", saw.Title)
	}
	join := s.made(http.MethodPost, "/ticket")
	if len(join) != 1 || join[0].body != `{"target":"https://shop.test/a"}` || len(join[0].key) != 32 {
		t.Errorf("joins %+v, want one with the target and a key", join)
	}
	if n := len(s.made(http.MethodPost, "/ticket/claim")); n != 1 {
		t.Errorf("%d claims, want 1", n)
	}
	if n := len(s.made(http.MethodPost, "/ticket/away")); n != 0 {
		t.Errorf("%d beacons of a visitor who went in, want 0", n)
	}
}

func TestScriptKeepsThePlaceWhileTheServerIsAway(t *testing.T) {
	t.Parallel()
	s := newSite(t, saleView, func(c call, n int) (int, string) {
		switch {
		case c.method == http.MethodPost:
			return 200, standing(40)
		case n == 1:
			return 502, "<html>Bad gateway"
		case n == 2:
			return 200, "<html>A login page of somebody's network"
		case n == 3:
			return 204, ""
		}
		return 200, standing(30)
	})
	ctx := openBrowser(t)
	do(t, ctx, chromedp.Navigate(s.URL+"/r/sale"))
	until(t, ctx, `document.querySelector("#foot.lost #checked")?.textContent === "Connection lost. Your place is kept."`)
	if p := eval[string](t, ctx, `document.getElementById("position").textContent.trim()`); p != "40" {
		t.Errorf("position %q while the connection is lost, want the last known 40", p)
	}
	until(t, ctx, `document.getElementById("position").textContent.trim() === "30"`)
	until(t, ctx, `!document.getElementById("foot").classList.contains("lost") && document.getElementById("checked").textContent === "Last checked just now"`)
}

func TestScriptOffersANewPlaceWhenThePlaceExpired(t *testing.T) {
	t.Parallel()
	s := newSite(t, saleView, func(c call, n int) (int, string) {
		if c.method == http.MethodPost && n > 1 {
			return 201, standing(90)
		}
		if c.method == http.MethodPost {
			return 201, standing(3)
		}
		return 401, noTicket
	})
	ctx := openBrowser(t)
	do(t, ctx, chromedp.Navigate(s.URL+"/r/sale"), chromedp.WaitVisible(chromedp.CSS("#join-button")))
	if got := eval[string](t, ctx, `document.getElementById("say").innerText`); !strings.Contains(got, "Your place has expired") || !strings.Contains(got, "Join again") {
		t.Errorf("the page says %q", got)
	}
	do(t, ctx, chromedp.Click(chromedp.CSS("#join-button")))
	until(t, ctx, `document.getElementById("position").textContent.trim() === "90"`)
	joins := s.made(http.MethodPost, "/ticket")
	if len(joins) != 2 || joins[0].key == joins[1].key {
		t.Errorf("joins %+v, want two with different keys", joins)
	}
}

func TestHiddenPageTakesItsTurnUpAndWaits(t *testing.T) {
	t.Parallel()
	s := newSite(t, saleView, func(c call, _ int) (int, string) {
		if c.path == "/ticket/claim" {
			return 200, toShop
		}
		return 200, `{"state":"admitted","claim_by_s":3,"poll_after_ms":20000}`
	})
	ctx := openBrowser(t)
	_, err := cdpNewDocument(ctx, `window.veiled = true; Object.defineProperty(document, "hidden", { get: () => veiled });`)
	if err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate(s.URL+"/r/sale"))
	until(t, ctx, `document.title === "Your turn! · Winter sale"`)
	if n := len(s.made(http.MethodPost, "/ticket/claim")); n != 0 {
		t.Errorf("%d claims as soon as the turn came, want none while hidden", n)
	}
	until(t, ctx, `performance.getEntriesByType("resource").some((e) => e.name.endsWith("/claim"))`)
	if at := eval[string](t, ctx, `location.pathname`); at != "/r/sale" {
		t.Errorf("a hidden page went to %s, want it to wait until it is looked at", at)
	}
	eval[bool](t, ctx, `veiled = false; document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))`)
	until(t, ctx, `location.pathname === "/shop"`)
}

func TestLeavingAsksFirst(t *testing.T) {
	t.Parallel()
	s := newSite(t, saleView, func(c call, _ int) (int, string) {
		if c.method == http.MethodDelete {
			return 200, `{"state":"left"}`
		}
		return 200, standing(5)
	})
	ctx := openBrowser(t)
	do(t, ctx, chromedp.Navigate(s.URL+"/r/sale"), chromedp.WaitVisible(chromedp.CSS("#leave summary")),
		chromedp.Click(chromedp.CSS("#leave summary")), chromedp.WaitVisible(chromedp.CSS("#stay")))
	if n := len(s.made(http.MethodDelete, "/ticket")); n != 0 {
		t.Fatalf("the first press already left the line")
	}
	do(t, ctx, chromedp.Click(chromedp.CSS("#leave-form [type=submit]")), chromedp.WaitVisible(chromedp.CSS("#join-button")))
	if got := eval[string](t, ctx, `document.getElementById("say-title").textContent`); got != "You have left the line" {
		t.Errorf("the page says %q", got)
	}
	if left := eval[int](t, ctx, `localStorage.length`); left != 0 {
		t.Errorf("%d things are remembered of a place that was left", left)
	}
}

func TestTabsShareOnePlace(t *testing.T) {
	t.Parallel()
	s := newSite(t, saleView, func(call, int) (int, string) { return 200, standing(9) })
	s.cookie = true
	ctx := openBrowser(t)
	tabs := []context.Context{ctx}
	for range 4 {
		tabs = append(tabs, openTab(t, ctx))
	}
	var all sync.WaitGroup
	for _, tab := range tabs {
		all.Go(func() {
			if err := chromedp.Do(tab, chromedp.Navigate(s.URL+"/r/sale"), chromedp.WaitVisible(chromedp.CSS("#position"))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	joins, places := s.made(http.MethodPost, "/ticket"), map[string]bool{}
	for _, c := range joins {
		if !c.ticket {
			places[c.key] = true
		}
	}
	if len(joins) != 5 || len(places) != 1 {
		t.Errorf("%d tabs joined and got the places %v, want five with one", len(joins), places)
	}
}

func TestBouncesEndInAWordOfAdvice(t *testing.T) {
	t.Parallel()
	s := newSite(t, saleView, func(c call, _ int) (int, string) {
		if c.path == "/ticket/claim" {
			return 200, `{"pass":"x","redirect":"/r/sale","expires_in_s":60}` // the shop sends everyone back
		}
		return 200, `{"state":"active","poll_after_ms":500}`
	})
	ctx := openBrowser(t)
	do(t, ctx, chromedp.Navigate(s.URL+"/r/sale"))
	until(t, ctx, `document.getElementById("say-text")?.innerText.includes("sent you back several times")`)
	if n := len(s.made(http.MethodPost, "/ticket/claim")); n != 4 {
		t.Errorf("%d claims before the page stopped, want 4", n)
	}
	if on := eval[bool](t, ctx, `document.querySelector("#enter button").checkVisibility()`); !on {
		t.Error("the button to enter is not offered")
	}
}

// cdpNewDocument runs a script in every document before the page's own.
func cdpNewDocument(ctx context.Context, source string) (cdppage.AddScriptToEvaluateOnNewDocumentResult, error) {
	return chromedp.Call(ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: source})
}
