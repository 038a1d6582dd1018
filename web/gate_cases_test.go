package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anteroom/anteroom/pass"
)

// browser follows nothing by itself and keeps cookies by host, as the requests name hosts
// that no resolver knows.
type browser struct {
	*site
	jar  map[string]map[string]string
	none bool // cookies are blocked
}

func (s *site) browser() *browser { return &browser{site: s, jar: map[string]map[string]string{}} }

func (b *browser) do(method, address, body string, headers ...string) answer {
	b.t.Helper()
	scheme, rest, _ := strings.Cut(address, "://")
	i := strings.IndexByte(rest, '/')
	host, uri := rest[:i], rest[i:]
	var cookies []string
	for name, value := range b.jar[host] {
		cookies = append(cookies, name+"="+value)
	}
	if len(cookies) > 0 {
		headers = append(headers, "Cookie", strings.Join(cookies, "; "))
	}
	a := b.send(nil, method, host, uri, body, append(headers, "X-Forwarded-Proto", scheme)...)
	if b.jar[host] == nil {
		b.jar[host] = map[string]string{}
	}
	for _, c := range a.Cookies() {
		if b.none {
			break
		}
		if b.jar[host][c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.jar[host], c.Name)
		}
	}
	return a
}

// load opens a page and follows redirects, at most ten.
func (b *browser) load(address string) (a answer, at string, hops int) {
	b.t.Helper()
	for hops = 0; hops < 10; hops++ {
		a = b.do("GET", address, "", navigation...)
		if a.StatusCode/100 != 3 {
			return a, address, hops
		}
		from, err := url.Parse(address)
		if err != nil {
			b.t.Fatal(err)
		}
		if address = a.Header.Get("Location"); !strings.Contains(address, "://") {
			address = from.Scheme + "://" + from.Host + address
		}
	}
	return a, address, hops
}

// queue joins from the page at a host and claims the turn; it returns where to go.
func (b *browser) queue(host, target string) string {
	b.t.Helper()
	api := "https://" + host + "/v1/rooms/sale/ticket"
	b.do("POST", api, fmt.Sprintf(`{"target":%q}`, target), "Content-Type", "application/json")
	a := b.want("the claim", b.do("POST", api+"/claim", ""), 200)
	_, redirect, _ := strings.Cut(a.text, `"redirect":"`)
	redirect, _, _ = strings.Cut(redirect, `"`)
	return strings.NewReplacer(`\u0026`, "&").Replace(redirect)
}

// WR-08, in all the ways in: path and query come back byte for byte.
func TestWR08_TheWholeAddressComesBack(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	b := s.browser()
	a, at, _ := b.load("https://shop.test" + everyByte)
	if a.StatusCode != 200 || !strings.Contains(a.text, `id="queue"`) || at != "https://shop.test"+everyByte {
		t.Fatalf("the page in place: %d at %s", a.StatusCode, at)
	}
	to := b.queue("shop.test", "https://shop.test"+everyByte)
	if to != "https://shop.test"+everyByte {
		t.Errorf("the turn leads to %q", to)
	}
	s.want("the shop", b.do("GET", to, "", navigation...), 200)
	if last, n := s.shop.last(); n != 1 || last.uri != everyByte || last.host != "shop.test" {
		t.Errorf("after %d requests the shop saw %s %s", n, last.host, last.uri)
	}
	// From another domain the admission travels in the address, once.
	other := s.browser()
	to = other.queue("queue.test", "https://shop.test"+everyByte)
	if clean, token, ok := pass.CutHandover(to); !ok || token == "" || clean != "https://shop.test"+everyByte {
		t.Fatalf("the hand-over is %q", to)
	}
	a, at, hops := other.load(to)
	if a.StatusCode != 200 || strings.Contains(a.text, `id="queue"`) || hops != 1 || at != "https://shop.test"+everyByte {
		t.Errorf("the hand-over leads in %d hops to %s: %d", hops, at, a.StatusCode)
	}
	if last, _ := s.shop.last(); last.uri != everyByte {
		t.Errorf("the shop saw %s", last.uri)
	}
}

// WR-05: the shop's landing page drops the query; a browser that keeps cookies is in within
// four hops, and one that keeps none is told so.
func TestWR05_NoEndlessLoop(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	s.shop.does(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sale" {
			http.Redirect(w, r, "/sale/en/", http.StatusMovedPermanently)
		}
	})
	b := s.browser()
	a, at, hops := b.load(b.queue("queue.test", "https://shop.test/sale"))
	if a.StatusCode != 200 || strings.Contains(a.text, `id="queue"`) || hops > 4 || at != "https://shop.test/sale/en/" {
		t.Errorf("in %d hops at %s: %d", hops, at, a.StatusCode)
	}
	// The shop's host loses cookies, the queue's does not: the turn is kept, the loop ends.
	loser := s.browser()
	loser.queue("queue.test", "https://shop.test/sale")
	ended := false
	for range 8 {
		a := loser.do("POST", "https://queue.test/r/sale/claim", "", append(navigation, "Content-Type", "application/x-www-form-urlencoded")...)
		if a.StatusCode == 200 && strings.Contains(a.text, "something is in the way") {
			ended = true
			break
		}
	}
	if !ended {
		t.Error("eight turns in a row led to the shop without a word")
	}
	if a := loser.do("GET", "https://queue.test/v1/rooms/sale/ticket", ""); a.StatusCode != 200 || !strings.Contains(a.text, `"active"`) {
		t.Errorf("after the loop the ticket is %d %s", a.StatusCode, a.text)
	}
	blocked := s.browser()
	blocked.none = true
	a = blocked.do("POST", "https://queue.test/r/sale/join", "target=%2F", append(navigation, "Content-Type", "application/x-www-form-urlencoded")...)
	page := "https://queue.test" + a.Header.Get("Location")
	if a, _, _ = blocked.load(page); !strings.Contains(a.text, "keeps no cookies") || !strings.Contains(a.text, `data-state="admitted"`) {
		t.Errorf("a browser without cookies is shown %.300s", a.text)
	}
	blocked.none = false // the visitor allows them
	blocked.load(page)
	if a, at, _ := blocked.load(page); at != "https://queue.test/r/sale" || !strings.Contains(a.text, `data-state="admitted"`) {
		t.Errorf("with cookies allowed the page at %s is %.300s", at, a.text)
	}
}

// WR-06: a target that is our own page is unwrapped and never grows.
func TestWR06_TheTargetNeverGrows(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	target, longest := "https://shop.test/sale?a=1", 0
	for range 6 {
		page := "https://queue.test/r/sale?target=" + url.QueryEscape(target)
		b := s.browser()
		a := b.do("POST", "https://queue.test/v1/rooms/sale/ticket", fmt.Sprintf(`{"target":%q}`, page))
		_, got, _ := strings.Cut(a.text, `"target":"`)
		got, _, _ = strings.Cut(got, `"`)
		longest = max(longest, len(got))
		if got != "https://shop.test/sale?a=1" {
			t.Fatalf("the target of a wrapped address is %q", got)
		}
		target = page
	}
	if longest > len("https://shop.test/sale?a=1") {
		t.Errorf("the target grew to %d bytes", longest)
	}
}

// WR-10: a form is never answered with its own address as the way back.
func TestWR10_AFormGoesBackToAPage(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	form := append([]string{"Content-Type", "application/x-www-form-urlencoded", "Referer", "https://shop.test/sale/item/7"}, navigation...)
	b := s.browser()
	a := s.want("a form", b.do("POST", "https://shop.test/sale/cart/add", "sku=7", form...), 303)
	if to := targetOf(t, a.Header.Get("Location")); to != "https://shop.test/sale/item/7" {
		t.Errorf("the way back is %q, want the page that the form was on", to)
	}
	s.want("a call", b.do("POST", "https://shop.test/sale/cart/add", "{}", "Content-Type", "application/json", "Accept", "application/json"), 429)
	if _, n := s.shop.last(); n != 0 {
		t.Errorf("%d requests without a pass reached the shop", n)
	}
}

// WR-11: cookies come along from a payment site, and a cross-site request takes none away.
func TestWR11_CookiesAreLaxAndStay(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	for _, scheme := range []string{"https", "http"} {
		b := s.browser()
		a := b.do("GET", strings.Replace(b.queue("queue.test", "https://shop.test/sale"), "https", scheme, 1), "", navigation...)
		found := false
		for _, c := range a.Cookies() {
			if c.Name != pass.CookieName("sale") {
				continue
			}
			if found = true; !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Secure != (scheme == "https") {
				t.Errorf("%s: the pass cookie is %+v", scheme, c)
			}
		}
		if !found {
			t.Errorf("%s: no pass cookie in %v", scheme, a.Header)
		}
	}
	cross := append([]string{"Sec-Fetch-Site", "cross-site", "Origin", "https://pay.test"}, navigation...)
	for _, method := range []string{"GET", "POST"} {
		a := s.browser().do(method, "https://shop.test/sale", "", cross...)
		for _, c := range a.Cookies() {
			if c.Name == pass.CookieName("sale") {
				t.Errorf("a cross-site %s without cookies sets %s", method, c)
			}
		}
	}
}

// WR-14: eight requests at once from one jar, and none takes the pass away.
func TestWR14_ParallelRequestsAreOnePlace(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	token := s.passOnce("visitor")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			headers := navigation
			if i%2 == 0 {
				headers = []string{"Accept", "application/json"}
			}
			a := s.send(nil, "GET", "shop.test", "/sale", "", headers...)
			for _, c := range a.Cookies() {
				if c.Name == pass.CookieName("sale") {
					t.Errorf("a refusal sets %s", c)
				}
			}
		})
	}
	wg.Wait()
	s.want("the pass meanwhile", s.send(nil, "GET", "shop.test", "/sale", "", with(token, navigation...)...), 200)
	if status, err := s.Line.Status(t.Context(), s.room.Queue()); err != nil || status.Waiting != 0 {
		t.Errorf("bare requests took %d places, %v", status.Waiting, err)
	}
}

// WR-16: what depends on a visitor is never cached, and public answers get no cookie.
func TestWR16_NothingOfOursIsCached(t *testing.T) {
	t.Parallel()
	s := newSite(t, "    session: 4s\n    queue_status: 503\n")
	a := s.want("the page in place", s.send(nil, "GET", "shop.test", "/sale", "", navigation...), 503)
	for _, a := range []answer{a, s.ask("traefik", "/", navigation...), s.ask("traefik", "/", "Accept", "application/json"), s.ask("traefik", "/", with(s.passOnce("a"))...)} {
		if cc := a.Header.Get("Cache-Control"); !strings.Contains(cc, "no-store") {
			t.Errorf("%d is Cache-Control %q", a.StatusCode, cc)
		}
	}
	if a.Header.Get("Retry-After") == "" || !strings.Contains(a.Header.Get("X-Robots-Tag"), "noindex") {
		t.Errorf("the page in place has %v", a.Header)
	}
	token := s.passOnce("b")
	renewed := map[bool]int{}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(3500 * time.Millisecond); time.Now().Before(end); <-tick.C {
		for _, cacheable := range []bool{true, false} {
			s.shop.does(func(w http.ResponseWriter, _ *http.Request) {
				if cacheable {
					w.Header().Set("Cache-Control", "public,max-age=43200")
				}
			})
			a := s.send(nil, "GET", "shop.test", "/sale/x", "", with(token)...)
			renewed[cacheable] += len(a.Header.Values("Set-Cookie"))
		}
	}
	if renewed[true] != 0 || renewed[false] == 0 {
		t.Errorf("%d public answers and %d others carried a renewed pass, want none and some", renewed[true], renewed[false])
	}
}

// WR-19: asking as told is never too often; asking fifty times a second is, for that ticket.
func TestWR19_OnlyAbuseIsSlowed(t *testing.T) {
	t.Parallel()
	s := newSite(t, "    heartbeat: 30s\n")
	const api = "https://queue.test/v1/rooms/sale/ticket"
	crowd := make([]*browser, 300)
	for i := range crowd {
		crowd[i] = s.browser()
		crowd[i].do("POST", api, "")
	}
	for range 2 {
		for i, b := range crowd {
			if a := b.do("GET", api, ""); a.StatusCode != 200 {
				t.Fatalf("a poll of visitor %d behind one address: %d %s", i, a.StatusCode, a.text)
			}
		}
	}
	slowed := 0
	for range 50 {
		if a := crowd[200].do("GET", api, ""); a.StatusCode == http.StatusTooManyRequests {
			if slowed++; a.Header.Get("Retry-After") == "" {
				t.Fatal("no Retry-After with a 429")
			}
		}
	}
	if slowed < 20 {
		t.Errorf("%d of 50 polls at once were slowed", slowed)
	}
	if a := crowd[201].do("GET", api, ""); a.StatusCode != 200 {
		t.Errorf("the neighbour's poll: %d", a.StatusCode)
	}
}

// One pass on two rooms, after key rotation, by a key of nobody: each its answer.
func TestPass_CountsWhereItShould(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	good := s.passOnce("visitor")
	key, err := pass.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	other, err := pass.NewSigner("test", key)
	if err != nil {
		t.Fatal(err)
	}
	forged, _, _ := other.Sign("sale", "visitor---------------", 1, time.Now(), time.Now().Add(time.Minute))
	rotated, _, _ := s.Retired.Sign("sale", "visitor---------------", 1, time.Now(), time.Now().Add(time.Minute))
	foreign, _, _ := s.Passes.Sign("other", "visitor---------------", 1, time.Now(), time.Now().Add(time.Minute))
	for what, c := range map[string]struct {
		token  string
		status int
	}{"the pass": {good, 200}, "of another room": {foreign, 429}, "by another key": {forged, 429}, "by a key that was replaced": {rotated, 200}, "cut": {good[:40], 429}, "empty": {"", 429}} {
		s.want(what, s.ask("traefik", "/", with(c.token)...), c.status)
	}
}

// A hand-over address whose path looks like another host leads to no other host.
func TestHandover_IsNoOpenRedirect(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	token := s.passOnce("visitor")
	for _, uri := range []string{"//evil.test/sale?anteroom_pass=x", `/\evil.test/sale?anteroom_pass=x`} {
		for what, to := range map[string]string{
			"traefik": s.ask("traefik", uri, with(token, navigation...)...).Header.Get("Location"),
			"nginx":   s.ask("nginx", uri, with(token, navigation...)...).Header.Get("Anteroom-Location"),
			"proxy":   s.send(nil, "GET", "shop.test", uri, "", with(token, navigation...)...).Header.Get("Location"),
		} {
			if u, err := url.Parse(to); strings.HasPrefix(to, "//") || strings.HasPrefix(to, `/\`) || err == nil && u.Host != "" && u.Host != "plain.test" && u.Host != "shop.test" && u.Host != "queue.test" {
				t.Errorf("%s: %s leads to %q", what, uri, to)
			}
		}
	}
}
