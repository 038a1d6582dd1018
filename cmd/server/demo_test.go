package main

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// The way of a visitor with a script: shop, queue page, place, turn, shop.
func TestDemo_ShopLeadsThroughTheLineAndBack(t *testing.T) {
	t.Parallel()
	p := start(t, "--data-dir", t.TempDir())
	b := p.browser()
	toQueue := b.do("GET", "/events/x?a=1", "").want(t, "the shop without a pass", 302)
	at, err := url.Parse(toQueue.header.Get("Location"))
	if err != nil || at.Path != "/r/demo" || !strings.Contains(at.Query().Get("target"), "/events/x?a=1") {
		t.Fatalf("the shop leads to %q, %v; want the queue page with the way back", at, err)
	}
	page := b.do("GET", at.RequestURI(), "").want(t, "the queue page", 200)
	if !strings.Contains(page.body, `action="/r/demo/join"`) || !strings.HasPrefix(page.header.Get("Content-Type"), "text/html") {
		t.Errorf("the queue page has no form to join: %s", page.body)
	}
	b.api("GET", "/v1/rooms/demo/ticket", "").want(t, "a poll of somebody who only looked", 401)
	b.api("POST", "/v1/rooms/demo/ticket", `{"target":"/"}`).want(t, "the join", 201)
	claim := b.api("POST", "/v1/rooms/demo/ticket/claim", "").want(t, "the claim", 200).json(t)
	if claim["redirect"] != "/" || claim["pass"] == "" {
		t.Errorf("the claim answered %v", claim)
	}
	shop := b.do("GET", "/", "").want(t, "the shop with a pass", 200)
	if !strings.Contains(shop.body, "Lantern") || !strings.Contains(shop.body, `action="/r/demo/leave"`) {
		t.Errorf("the shop shows %s", shop.body)
	}
	p.browser().do("GET", "/", "").want(t, "the shop for somebody else", 302)
}

// The same without script: forms alone lead there and out again.
func TestDemo_WorksWithoutScript(t *testing.T) {
	t.Parallel()
	b := start(t, "--data-dir", t.TempDir()).browser()
	b.do("GET", "/r/demo?target=%2F", "").want(t, "the queue page", 200)
	b.do("POST", "/r/demo/join", "target=%2F").want(t, "the join form", 303)
	if to := b.do("POST", "/r/demo/claim", "x=1").want(t, "the claim form", 303).header.Get("Location"); to != "/" {
		t.Errorf("the claim leads to %q", to)
	}
	b.do("GET", "/", "").want(t, "the shop with a pass", 200)
	b.do("POST", "/r/demo/leave", "x=1").want(t, "the leave form", 303)
	b.api("POST", "/v1/rooms/demo/ticket/claim", "").want(t, "a claim of somebody who left", 401)
}

// Fourth of three: waits, and gets the turn when somebody leaves.
func TestDemo_AdmitsTheNextWhenSomebodyLeaves(t *testing.T) {
	t.Parallel()
	p := start(t, "--rooms", roomsFile(t, "name: one, capacity: 1, rate: 100/s"), "--data-dir", t.TempDir())
	first, second := p.browser(), p.browser()
	first.api("POST", "/v1/rooms/one/ticket", "").want(t, "the first join", 201)
	if at := second.api("POST", "/v1/rooms/one/ticket", "").want(t, "the second join", 201).json(t); at["state"] != "waiting" || at["position"] != 1.0 {
		t.Fatalf("the second stands at %v", at)
	}
	second.api("POST", "/v1/rooms/one/ticket/claim", "").want(t, "a claim before the turn", 409)
	first.api("DELETE", "/v1/rooms/one/ticket", "").want(t, "the first leaves", 200)
	await(t, "the second is admitted", func() bool {
		return second.api("GET", "/v1/rooms/one/ticket", "").want(t, "a poll", 200).json(t)["state"] == "admitted"
	})
	second.api("POST", "/v1/rooms/one/ticket/claim", "").want(t, "the claim", 200)
}

func TestOperations(t *testing.T) {
	t.Parallel()
	p := start(t, "--data-dir", t.TempDir(), "--ops-listen=127.0.0.1:0")
	b := p.browser()
	b.do("GET", "/healthz", "").want(t, "healthz", 200)
	b.do("GET", "/readyz", "").want(t, "readyz", 200)
	b.do("GET", "/metrics", "").want(t, "metrics on the public port", 302)
	if keys := b.api("GET", "/.well-known/jwks.json", "").want(t, "jwks", 200).json(t)["keys"]; len(keys.([]any)) != 1 {
		t.Errorf("the key set has %v", keys)
	}
	greeting := p.said.String()
	for _, want := range []string{"Anteroom is up", "demo shop   " + p.url.String() + "/", "queue page  " + p.url.String() + "/r/demo"} {
		if !strings.Contains(greeting, want) {
			t.Errorf("the greeting does not say %q: %s", want, greeting)
		}
	}
	at := regexp.MustCompile(`metrics     (http://\S+)/metrics`).FindStringSubmatch(greeting)
	if at == nil {
		t.Fatalf("the greeting does not say where metrics are: %s", greeting)
	}
	private, err := url.Parse(at[1])
	if err != nil {
		t.Fatal(err)
	}
	ops := p.browser()
	ops.p = &program{t: t, url: private}
	if got := ops.do("GET", "/metrics", "").want(t, "metrics", 200).body; !strings.Contains(got, "anteroom_") || !strings.Contains(got, "go_goroutines") {
		t.Errorf("metrics are %s", got)
	}
}
