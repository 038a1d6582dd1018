package main

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/anteroom/anteroom/internal/browsertest"
)

// A browser opens the full demo shop, is led to the line, and goes in by itself when
// somebody leaves; then it leaves, too.
func TestBrowser_GoesFromTheShopThroughTheLineIntoTheShop(t *testing.T) {
	t.Parallel()
	p := start(t, "--data-dir", t.TempDir())
	tab := browsertest.Open(t)
	inside := make([]browser, 3)
	for i := range inside { // the demo room's capacity; its pace lets one in each 5 s
		inside[i] = p.browser()
		inside[i].api("POST", "/v1/rooms/demo/ticket", "")
	}
	await(t, "three people are inside", func() bool {
		n := 0
		for _, b := range inside {
			if b.api("GET", "/v1/rooms/demo/ticket", "").json(t)["state"] != "waiting" {
				b.api("POST", "/v1/rooms/demo/ticket/claim", "")
				n++
			}
		}
		return n == len(inside)
	})
	browsertest.Do(t, tab, chromedp.Navigate(p.url.String()+"/?from=mail&a=1"))
	browsertest.Until(t, tab, `location.pathname === "/r/demo" && document.title.startsWith("Place 1")`)
	browsertest.Shoot(t, tab, "waiting")
	inside[0].api("DELETE", "/v1/rooms/demo/ticket", "").want(t, "somebody leaves", 200)
	browsertest.Until(t, tab, `location.pathname + location.search === "/?from=mail&a=1" && document.body.innerText.includes("Lantern")`)
	browsertest.Shoot(t, tab, "shop")
	browsertest.Do(t, tab, chromedp.Click(`form[action="/r/demo/leave"] button`))
	browsertest.Until(t, tab, `location.pathname === "/r/demo" && document.readyState === "complete"`)
	browsertest.Shoot(t, tab, "left")
}
