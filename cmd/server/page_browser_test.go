package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/anteroom/anteroom/internal/browsertest"
)

// sale is the whole program before a room for one, with somebody inside.
func sale(t *testing.T, fields string) (p *program, first browser) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rooms.yaml")
	text := "rooms:\n  - name: sale\n    capacity: 1\n    rate: 100/s\n    session: 1h\n    max_session: 2h\n    default_target: /healthz\n" + fields
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p = start(t, "--data-dir", t.TempDir(), "--rooms", file)
	first = p.browser()
	first.api("POST", "/v1/rooms/sale/ticket", `{}`)
	first.api("POST", "/v1/rooms/sale/ticket/claim", "").want(t, "the first goes in", 200)
	return p, first
}

func open(t *testing.T, tab context.Context, p *program, path string) {
	t.Helper()
	browsertest.Do(t, tab, chromedp.Navigate(p.url.String()+path))
}

// reads waits until an element's text has some words. It needs no script of the page.
func reads(t *testing.T, tab context.Context, id, words string) {
	t.Helper()
	await(t, id+" reads "+words, func() bool {
		got, err := chromedp.Run(tab, chromedp.Evaluate[string](`document.getElementById("`+id+`")?.innerText ?? ""`))
		return err == nil && strings.Contains(got, words)
	})
}

const atPlaceOne = `document.getElementById("position")?.textContent.trim() === "1"`

func TestBrowser_WithoutScriptTheWholeWay(t *testing.T) {
	t.Parallel()
	p, first := sale(t, "")
	tab := browsertest.Open(t)
	if _, err := chromedp.Call(tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	open(t, tab, p, "/r/sale?lang=de")
	reads(t, tab, "say-title", "Stellen Sie sich an")
	browsertest.Do(t, tab, chromedp.Click(chromedp.CSS("#join-button")))
	reads(t, tab, "position", "1")
	first.api("DELETE", "/v1/rooms/sale/ticket", "").want(t, "the first leaves", 200)
	await(t, "the turn comes", func() bool {
		if err := chromedp.Do(tab, chromedp.Click(chromedp.CSS("#check"))); err != nil {
			return false
		}
		got, err := chromedp.Run(tab, chromedp.Evaluate[bool](`!document.getElementById("turn")?.hidden`))
		return err == nil && got
	})
	browsertest.Do(t, tab, chromedp.Click(chromedp.CSS("#enter [type=submit]")))
	await(t, "it goes in", func() bool {
		at, err := chromedp.Run(tab, chromedp.Evaluate[string](`location.pathname`))
		return err == nil && at == "/healthz"
	})
}

// TestBrowser_WithCookiesBlockedIsToldPlainly: a browser that keeps nothing, as Chromium is
// when an operator of the machine blocks cookies.
func TestBrowser_WithCookiesBlockedIsToldPlainly(t *testing.T) {
	t.Parallel()
	p, _ := sale(t, "")
	tab := browsertest.Open(t)
	before(t, tab, `Object.defineProperty(navigator, "cookieEnabled", { get: () => false });
		for (const store of ["localStorage", "sessionStorage"]) Object.defineProperty(window, store, { get: () => { throw new DOMException("denied", "SecurityError"); } });`)
	open(t, tab, p, "/r/sale")
	browsertest.Until(t, tab, `document.getElementById("say-title")?.innerText === "This page needs cookies"`)
	if n := p.browser().api("GET", "/v1/rooms/sale", "").json(t)["waiting"]; n != 0.0 {
		t.Errorf("%v wait, want nobody: a browser that keeps no ticket took a place", n)
	}
}

// TestBrowser_OfflineForAWhileKeepsThePlace: three minutes at the usual ten minutes of
// keep_place are nine seconds at half a minute.
func TestBrowser_OfflineForAWhileKeepsThePlace(t *testing.T) {
	t.Parallel()
	p, _ := sale(t, "    heartbeat: 5s\n    keep_place: 1m\n")
	tab := browsertest.Open(t)
	open(t, tab, p, "/r/sale")
	browsertest.Until(t, tab, atPlaceOne)
	offline(t, tab, true)
	browsertest.Until(t, tab, `document.getElementById("checked")?.textContent.startsWith("Connection lost. Your place is kept until about ")`)
	late := p.browser()
	late.api("POST", "/v1/rooms/sale/ticket", `{}`)
	time.Sleep(9 * time.Second)
	if shown := browsertest.Eval[bool](t, tab, atPlaceOne); !shown {
		t.Error("the last known place is not shown while offline")
	}
	offline(t, tab, false)
	browsertest.Until(t, tab, `!document.getElementById("foot").classList.contains("lost") && `+atPlaceOne)
	if at := late.api("GET", "/v1/rooms/sale/ticket", "").json(t)["position"]; at != 2.0 {
		t.Errorf("whoever came later stands at %v, want 2", at)
	}
}

func offline(t *testing.T, tab context.Context, on bool) {
	t.Helper()
	if _, err := chromedp.Call(tab, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: on, DownloadThroughput: -1, UploadThroughput: -1}},
	}); err != nil {
		t.Fatal(err)
	}
}

// UX-01: TestBrowser_AThrottledTabKeepsThePlace: a hidden tab whose timers fire once in five seconds,
// as once a minute with a heartbeat of twelve times as much, for what would be ten minutes.
func TestBrowser_AThrottledTabKeepsThePlace(t *testing.T) {
	t.Parallel()
	p, first := sale(t, "    heartbeat: 5s\n    keep_place: 20s\n    claim_window: 20s\n")
	tab := browsertest.OpenFor(t, 3*time.Minute)
	before(t, tab, `window.veiled = true; Object.defineProperty(document, "hidden", { get: () => veiled });
		const usual = setTimeout; window.setTimeout = (f, ms) => usual(f, Math.max(5000, ms));`)
	open(t, tab, p, "/r/sale")
	browsertest.Until(t, tab, atPlaceOne)
	late := p.browser()
	late.api("POST", "/v1/rooms/sale/ticket", `{}`)
	for end := time.Now().Add(50 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Second) {
		if at := late.api("GET", "/v1/rooms/sale/ticket", "").json(t)["position"]; at != 2.0 {
			t.Fatalf("whoever came later stands at %v, want 2", at)
		}
	}
	first.api("DELETE", "/v1/rooms/sale/ticket", "").want(t, "the first leaves", 200)
	browsertest.Until(t, tab, `document.title.startsWith("Your turn!")`)
	browsertest.Eval[bool](t, tab, `veiled = false; document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))`)
	browsertest.Until(t, tab, `location.pathname === "/healthz"`)
}

// before runs a script in every document before the page's own.
func before(t *testing.T, tab context.Context, source string) {
	t.Helper()
	if _, err := chromedp.Call(tab, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: source}); err != nil {
		t.Fatal(err)
	}
}

func TestBrowser_ResumeOnASecondProfile(t *testing.T) {
	t.Parallel()
	p, first := sale(t, "")
	one, two := browsertest.Open(t), browsertest.Open(t)
	open(t, one, p, "/r/sale")
	browsertest.Until(t, one, atPlaceOne)
	browsertest.Do(t, one, chromedp.Click(chromedp.CSS("#resume button")))
	browsertest.Until(t, one, `document.querySelector(".link a") !== null`)
	browsertest.Shoot(t, one, "resume")
	browsertest.Do(t, two, chromedp.Navigate(browsertest.Eval[string](t, one, `document.querySelector(".link a").href`)))
	browsertest.Until(t, two, `document.querySelector("main form button") !== null`)
	browsertest.Do(t, two, chromedp.Click(chromedp.CSS("main form button")))
	browsertest.Until(t, two, atPlaceOne)
	open(t, one, p, "/r/sale")
	browsertest.Until(t, one, `document.getElementById("say-title")?.innerText === "Your place is on another device"`)
	first.api("DELETE", "/v1/rooms/sale/ticket", "").want(t, "the first leaves", 200)
	browsertest.Until(t, two, `location.pathname === "/healthz"`)
}

func TestBrowser_WorksOutAProof(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rooms.yaml")
	text := "rooms: [{name: sale, capacity: 1, rate: 100/s, proof: 3000, state: paused}]"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "--data-dir", t.TempDir(), "--rooms", file)
	p.browser().api("POST", "/v1/rooms/sale/ticket", `{}`).want(t, "no place without work", 403)
	tab := browsertest.Open(t)
	open(t, tab, p, "/r/sale")
	browsertest.Until(t, tab, atPlaceOne+` && document.getElementById("wait").textContent === "Entry is paused. Your place is kept."`)
}

func TestBrowser_AskMeFirstKeepsTheTurn(t *testing.T) {
	t.Parallel()
	p, first := sale(t, "    claim_window: 8s\n")
	tab := browsertest.Open(t)
	open(t, tab, p, "/r/sale")
	browsertest.Until(t, tab, atPlaceOne)
	browsertest.Do(t, tab, chromedp.Click(chromedp.CSS("#ask")))
	first.api("DELETE", "/v1/rooms/sale/ticket", "").want(t, "the first leaves", 200)
	browsertest.Until(t, tab, `/kept for 0:0\d/.test(document.getElementById("claimleft")?.innerText)`)
	browsertest.Shoot(t, tab, "turn")
	// Nobody presses anything: half of the time later the turn is taken up, and the page waits.
	browsertest.Until(t, tab, `document.getElementById("claimleft").innerText.startsWith("You have time: your way in is kept for ")`)
	if at := browsertest.Eval[string](t, tab, `location.pathname`); at != "/r/sale" {
		t.Fatalf("it went to %s by itself", at)
	}
	browsertest.Do(t, tab, chromedp.Click(chromedp.CSS("#enter [type=submit]")))
	browsertest.Until(t, tab, `location.pathname === "/healthz"`)
}
