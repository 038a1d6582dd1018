package page

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/anteroom/anteroom/internal/browsertest"
)

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
	ctx := browsertest.Open(t)
	_, err := cdpNewDocument(ctx, `window.seen = []; window.bars = [];
		addEventListener("DOMContentLoaded", () => document.getElementById("queue") && new MutationObserver(() => {
			seen.push(document.getElementById("position").textContent.trim());
			bars.push(document.getElementById("progress").value);
			name = JSON.stringify({ seen, bars, spoken: document.getElementById("spoken").textContent, title: document.title });
		}).observe(document.getElementById("queue"), { subtree: true, childList: true, characterData: true }));`)
	if err != nil {
		t.Fatal(err)
	}
	browsertest.Do(t, ctx, chromedp.Navigate(s.URL+"/r/sale"))
	browsertest.Until(t, ctx, `location.pathname === "/shop"`)

	var saw struct {
		Seen   []string
		Bars   []float64
		Spoken string
		Title  string
	}
	if err := json.Unmarshal([]byte(browsertest.Eval[string](t, ctx, `name`)), &saw); err != nil {
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
	if last := saw.Bars[len(saw.Bars)-1]; last <= 500 || last >= 1000 {
		t.Errorf("the progress bar of the next in line is at %v, want far and not full", last)
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
	ctx := browsertest.Open(t)
	browsertest.Do(t, ctx, chromedp.Navigate(s.URL+"/r/sale"))
	browsertest.Until(t, ctx, `document.querySelector("#foot.lost #checked")?.textContent.startsWith("Connection lost. Your place is kept until about ")`)
	if p := browsertest.Eval[string](t, ctx, `document.getElementById("position").textContent.trim()`); p != "40" {
		t.Errorf("position %q while the connection is lost, want the last known 40", p)
	}
	browsertest.Until(t, ctx, `document.getElementById("position").textContent.trim() === "30"`)
	browsertest.Until(t, ctx, `!document.getElementById("foot").classList.contains("lost") && document.getElementById("checked").textContent === "Last checked just now"`)
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
	ctx := browsertest.Open(t)
	browsertest.Do(t, ctx, chromedp.Navigate(s.URL+"/r/sale"), chromedp.WaitVisible(chromedp.CSS("#join-button")))
	if got := browsertest.Eval[string](t, ctx, `document.getElementById("say").innerText`); !strings.Contains(got, "Your place has expired") || !strings.Contains(got, "Join again") {
		t.Errorf("the page says %q", got)
	}
	browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("#join-button")))
	browsertest.Until(t, ctx, `document.getElementById("position").textContent.trim() === "90"`)
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
	ctx := browsertest.Open(t)
	_, err := cdpNewDocument(ctx, `window.veiled = true; Object.defineProperty(document, "hidden", { get: () => veiled });`)
	if err != nil {
		t.Fatal(err)
	}
	browsertest.Do(t, ctx, chromedp.Navigate(s.URL+"/r/sale"))
	browsertest.Until(t, ctx, `document.title === "Your turn! · Winter sale"`)
	if n := len(s.made(http.MethodPost, "/ticket/claim")); n != 0 {
		t.Errorf("%d claims as soon as the turn came, want none while hidden", n)
	}
	browsertest.Until(t, ctx, `performance.getEntriesByType("resource").some((e) => e.name.endsWith("/claim"))`)
	if at := browsertest.Eval[string](t, ctx, `location.pathname`); at != "/r/sale" {
		t.Errorf("a hidden page went to %s, want it to wait until it is looked at", at)
	}
	browsertest.Eval[bool](t, ctx, `veiled = false; document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))`)
	browsertest.Until(t, ctx, `location.pathname === "/shop"`)
}

func TestLeavingAsksFirst(t *testing.T) {
	t.Parallel()
	s := newSite(t, saleView, func(c call, _ int) (int, string) {
		if c.method == http.MethodDelete {
			return 200, `{"state":"left"}`
		}
		return 200, standing(5)
	})
	ctx := browsertest.Open(t)
	browsertest.Do(t, ctx, chromedp.Navigate(s.URL+"/r/sale"), chromedp.WaitVisible(chromedp.CSS("#leave summary")),
		chromedp.Click(chromedp.CSS("#leave summary")), chromedp.WaitVisible(chromedp.CSS("#stay")))
	if n := len(s.made(http.MethodDelete, "/ticket")); n != 0 {
		t.Fatalf("the first press already left the line")
	}
	browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("#leave-form [type=submit]")), chromedp.WaitVisible(chromedp.CSS("#join-button")))
	if got := browsertest.Eval[string](t, ctx, `document.getElementById("say-title").textContent`); got != "You have left the line" {
		t.Errorf("the page says %q", got)
	}
	if on := browsertest.Eval[bool](t, ctx, `document.getElementById("next").checkVisibility()`); on {
		t.Error("the page still says what happens next")
	}
	if left := browsertest.Eval[int](t, ctx, `localStorage.length`); left != 0 {
		t.Errorf("%d things are remembered of a place that was left", left)
	}
}

// UX-07: tabs hold no stream, and one of them asks for all.
func TestTabsShareOnePlace(t *testing.T) {
	t.Parallel()
	s := newSite(t, saleView, func(call, int) (int, string) { return 200, standing(9) })
	s.cookie = true
	ctx := browsertest.Open(t)
	tabs := []context.Context{ctx}
	for range 4 {
		tabs = append(tabs, browsertest.OpenTab(t, ctx))
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
	if len(places) != 1 {
		t.Errorf("%d joins of five tabs got the places %v, want one", len(joins), places)
	}
	// One of them asks: each is told every half a second.
	before, began := len(s.made(http.MethodGet, "/ticket")), time.Now()
	time.Sleep(4 * time.Second)
	polls, most := len(s.made(http.MethodGet, "/ticket"))-before, int(time.Since(began)/(500*time.Millisecond))+3
	if polls == 0 || polls > most {
		t.Errorf("%d polls of five tabs, want those of one, at most %d", polls, most)
	}
	// It is closed, and another goes on.
	for _, tab := range tabs[1:] {
		browsertest.Until(t, tab, `document.getElementById("position").textContent.trim() === "9"`)
	}
	browsertest.Do(t, tabs[4], chromedp.Navigate("about:blank"))
	before = len(s.made(http.MethodGet, "/ticket"))
	for deadline := time.Now().Add(20 * time.Second); len(s.made(http.MethodGet, "/ticket")) == before; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nobody asks any more")
		}
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
	ctx := browsertest.Open(t)
	browsertest.Do(t, ctx, chromedp.Navigate(s.URL+"/r/sale"))
	browsertest.Until(t, ctx, `document.getElementById("say-text")?.innerText.includes("sent you back several times")`)
	if n := len(s.made(http.MethodPost, "/ticket/claim")); n != 4 {
		t.Errorf("%d claims before the page stopped, want 4", n)
	}
	if on := browsertest.Eval[bool](t, ctx, `document.querySelector("#enter button").checkVisibility()`); !on {
		t.Error("the button to enter is not offered")
	}
}

func TestScriptHonoursRetryAfter(t *testing.T) {
	t.Parallel()
	var refused, next time.Time // ordered by the requests of one page
	s := newSite(t, saleView, func(c call, n int) (int, string) {
		switch {
		case c.method == http.MethodPost:
			return 200, standing(40)
		case n == 1:
			refused = time.Now()
			return 503, `{"title":"The line is out of reach"}`
		case n == 2:
			next = time.Now()
		}
		return 200, standing(30)
	})
	s.retryAfter = "2"
	ctx := browsertest.Open(t)
	browsertest.Do(t, ctx, chromedp.Navigate(s.URL+"/r/sale"))
	browsertest.Until(t, ctx, `document.getElementById("foot").classList.contains("lost")`)
	// Coming back to the page is no reason to ask before that.
	browsertest.Eval[bool](t, ctx, `document.dispatchEvent(new Event("visibilitychange", { bubbles: true })); dispatchEvent(new Event("online"))`)
	browsertest.Until(t, ctx, `document.getElementById("position").textContent.trim() === "30"`)
	if gap := next.Sub(refused); gap < 1900*time.Millisecond {
		t.Errorf("asked again after %v, want Retry-After: 2 honoured", gap)
	}
}

func TestClosingThePageSaysSo(t *testing.T) {
	t.Parallel()
	said := make(chan struct{}, 1)
	s := newSite(t, saleView, func(c call, _ int) (int, string) {
		if c.path == "/ticket/away" {
			said <- struct{}{}
			return 204, ""
		}
		return 200, standing(40)
	})
	ctx := browsertest.Open(t)
	browsertest.Do(t, ctx, chromedp.Navigate(s.URL+"/r/sale"), chromedp.WaitVisible(chromedp.CSS("#position")), chromedp.Navigate(s.URL+"/shop"))
	select {
	case <-said:
	case <-ctx.Done():
		t.Fatal("no beacon when the page was left")
	}
	// Back at the page, the place and the progress are as they were.
	browsertest.Do(t, ctx, chromedp.Navigate(s.URL+"/r/sale"))
	browsertest.Until(t, ctx, `document.getElementById("position").textContent.trim() === "40"`)
	joins := s.made(http.MethodPost, "/ticket")
	for _, c := range joins {
		if c.key != joins[0].key {
			t.Errorf("coming back joined with another key: %+v", joins)
		}
	}
}

func TestNoticeOfAReformingLineStandsAboveThePlace(t *testing.T) {
	t.Parallel()
	s := newSite(t, saleView, func(c call, n int) (int, string) {
		if c.method == http.MethodPost || n < 3 {
			return 200, `{"state":"waiting","notice":"The line is putting itself back in order.","poll_after_ms":500,"message":"Doors at eight."}`
		}
		return 200, standing(12)
	})
	ctx := browsertest.Open(t)
	browsertest.Do(t, ctx, chromedp.Navigate(s.URL+"/r/sale"))
	browsertest.Until(t, ctx, `document.getElementById("notice")?.textContent === "The line is putting itself back in order." && document.getElementById("notice").checkVisibility()`)
	if got := browsertest.Eval[string](t, ctx, `document.getElementById("waiting").innerText`); !strings.Contains(got, "Your place is kept.") || !strings.Contains(got, "known in a moment") {
		t.Errorf("the page says %q", got)
	}
	if got := browsertest.Eval[string](t, ctx, `document.getElementById("message").textContent`); got != "Doors at eight." {
		t.Errorf("the operator's message is %q", got)
	}
	browsertest.Until(t, ctx, `document.getElementById("position").textContent.trim() === "12" && !document.getElementById("notice").checkVisibility()`)
}

// UX-08: pressing twice joins once.
func TestADoubleClickOnJoinIsOnePlace(t *testing.T) {
	t.Parallel()
	view := saleView
	view.Status = "left"
	s := newSite(t, view, func(call, int) (int, string) { return 200, standing(7) })
	ctx := browsertest.Open(t)
	browsertest.Do(t, ctx, chromedp.Navigate(s.URL+"/r/sale"), chromedp.WaitVisible(chromedp.CSS("#join-button")))
	browsertest.Eval[bool](t, ctx, `(() => { const b = document.getElementById("join-button"); b.click(); b.click(); b.click(); return true; })()`)
	browsertest.Until(t, ctx, `document.getElementById("position").textContent.trim() === "7"`)
	if joins := s.made(http.MethodPost, "/ticket"); len(joins) != 1 {
		t.Errorf("%d joins of three clicks, want one", len(joins))
	}
}

// A page that comes back from the browser's cache asks at once. The events are made
// here, because the driver of the tests does not follow a page into that cache and back.
func TestComingBackAsksAtOnce(t *testing.T) {
	t.Parallel()
	positions := 40
	var mu sync.Mutex
	s := newSite(t, saleView, func(c call, _ int) (int, string) {
		if c.path == "/ticket/away" {
			return 204, ""
		}
		mu.Lock()
		defer mu.Unlock()
		positions--
		return 200, strings.Replace(standing(positions), `"poll_after_ms":500`, `"poll_after_ms":60000`, 1)
	})
	ctx := browsertest.Open(t)
	browsertest.Do(t, ctx, chromedp.Navigate(s.URL+"/r/sale"), chromedp.WaitVisible(chromedp.CSS("#position")))
	browsertest.Until(t, ctx, `document.getElementById("position").textContent.trim() === "39"`)
	browsertest.Eval[bool](t, ctx, `for (const type of ["pagehide", "pageshow"]) dispatchEvent(new PageTransitionEvent(type, { persisted: true })); true`)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		got, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.getElementById("position")?.textContent.trim()`))
		if err == nil && got != "" && got < "39" {
			break // asked again, long before the next poll is due
		}
		if time.Now().After(deadline) {
			t.Fatalf("after going back the place is %q, %v", got, err)
		}
	}
}
