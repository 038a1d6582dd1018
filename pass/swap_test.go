package pass_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anteroom/anteroom/pass"
)

const (
	page  = "/p?a=1&b=2&b=3&c=%26%3D%2B+x&empty=&flag"
	queue = queuePage + "?target=http%3A%2F%2Fshop.test%2Fp%3Fa%3D1%26b%3D2%26b%3D3%26c%3D%2526%253D%252B%2Bx%26empty%3D%26flag"
)

func TestHandover_IsSwappedOnceForACookie(t *testing.T) {
	t.Parallel()
	s, foreign := newSigner(t, newKey(t)), newSigner(t, newKey(t))
	token, good := handover(t, s), sign(t, s, "sale", 2, noon.Add(time.Minute))
	cookie := "anteroom_p_sale=" + good
	for name, c := range map[string]struct {
		token  string
		answer http.HandlerFunc
		cookie string // that the visitor has
		want   string // Location
		set    bool
		asked  int
	}{
		"redeemed":               {token, says(200, redeemed(good, 60)), "", page, true, 1},
		"redeemed, had a pass":   {token, says(200, redeemed(good, 60)), cookie, page, true, 1},
		"used":                   {token, says(409, `{"status":409}`), "", queue, false, 1},
		"used, has a pass":       {token, says(409, `{"status":409}`), cookie, page, false, 1},
		"store away":             {token, says(503, `{"status":503}`), "", queue, false, 1},
		"store away, has a pass": {token, says(503, ""), cookie, page, false, 1},
		"no such room":           {token, says(404, redeemed(good, 60)), "", queue, false, 1},
		"201 is not the answer":  {token, says(201, redeemed(good, 60)), "", queue, false, 1},
		"garbage":                {token, says(200, "<html>"), "", queue, false, 1},
		"another type":           {token, says(200, `[]`), "", queue, false, 1},
		"no pass":                {token, says(200, `{}`), "", queue, false, 1},
		"a pass of nobody":       {token, says(200, redeemed("a=b; Path=/x", 60)), "", queue, false, 1},
		"another room's pass":    {token, says(200, redeemed(sign(t, s, "vip", 2, noon.Add(time.Minute)), 60)), "", queue, false, 1},
		"a token as the pass":    {token, says(200, redeemed(token, 60)), "", queue, false, 1},
		"oversized":              {token, says(200, redeemed(good, 60)+strings.Repeat(" ", 16<<10)), "", queue, false, 1},
		"cut off":                {token, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "9999") }, "", queue, false, 1},
		"elsewhere": {token, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, "", queue, false, 1},
		"made up":               {"abc", says(200, redeemed(good, 60)), "", queue, false, 0},
		"made up, has a pass":   {"abc", says(200, redeemed(good, 60)), cookie, page, false, 0},
		"empty":                 {"", says(200, redeemed(good, 60)), "", queue, false, 0},
		"a pass, not a token":   {good, says(200, redeemed(good, 60)), "", queue, false, 0},
		"of a foreign Anteroom": {handover(t, foreign), says(200, redeemed(good, 60)), "", queue, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newAnteroom(t, "/v1/rooms/sale/redeem", c.answer)
			shop, h := gated(s, func(g *pass.Config) { g.AnteroomURL = server.URL + "/" })
			r := request("GET", "http://shop.test"+pass.AddHandover(page, c.token), "Sec-Fetch-Mode", "navigate", "Cookie", c.cookie)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if shop.seen != nil || w.Code != http.StatusFound || w.Header().Get("Location") != c.want {
				t.Errorf("answered %d to %q, want 302 to %q", w.Code, w.Header().Get("Location"), c.want)
			}
			if got := w.Header().Values("Set-Cookie"); (len(got) == 1) != c.set || len(got) > 1 {
				t.Errorf("Set-Cookie %q, want one: %v", got, c.set)
			}
			if w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("headers %v", w.Header())
			}
			asked := server.asked()
			if len(asked) != c.asked || c.asked == 1 && asked[0] != `{"token":"`+c.token+`"}` {
				t.Errorf("Anteroom was asked %q", asked)
			}
		})
	}
}

// WR-11: Lax, HttpOnly, for the whole site, Secure on https and only there.
func TestHandover_CookieAttributes(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	good := sign(t, s, "sale", 2, noon.Add(time.Minute))
	for name, c := range map[string]struct {
		change    func(*pass.Config)
		tls       bool
		expiresIn int
		want      string
	}{
		"http":             {nil, false, 60, "anteroom_p_sale=" + good + "; Path=/; Max-Age=60; HttpOnly; SameSite=Lax"},
		"TLS":              {nil, true, 60, "anteroom_p_sale=" + good + "; Path=/; Max-Age=60; HttpOnly; Secure; SameSite=Lax"},
		"proxy ends TLS":   {func(g *pass.Config) { g.PublicURL = "HTTPS://www.shop.test/" }, false, 60, "anteroom_p_sale=" + good + "; Path=/; Max-Age=60; HttpOnly; Secure; SameSite=Lax"},
		"sliding":          {func(g *pass.Config) { g.MaxSession = time.Hour }, false, 60, "anteroom_p_sale=" + good + "; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax"},
		"longer than that": {func(g *pass.Config) { g.MaxSession = time.Second }, false, 60, "anteroom_p_sale=" + good + "; Path=/; Max-Age=60; HttpOnly; SameSite=Lax"},
		"other name":       {func(g *pass.Config) { g.CookieName = "p" }, false, 60, "p=" + good + "; Path=/; Max-Age=60; HttpOnly; SameSite=Lax"},
		"last second":      {nil, false, 0, "anteroom_p_sale=" + good + "; Path=/; Max-Age=1; HttpOnly; SameSite=Lax"},
		"for ever":         {nil, false, 1 << 40, "anteroom_p_sale=" + good + "; Path=/; Max-Age=34560000; HttpOnly; SameSite=Lax"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newAnteroom(t, "/v1/rooms/sale/redeem", says(200, redeemed(good, c.expiresIn)))
			_, h := gated(s, func(g *pass.Config) {
				if g.AnteroomURL = server.URL; c.change != nil {
					c.change(g)
				}
			})
			w := httptest.NewRecorder()
			r := request("GET", "http://shop.test"+pass.AddHandover("/", handover(t, s)), "Sec-Fetch-Mode", "navigate")
			if c.tls {
				r = httptest.NewRequest(http.MethodGet, "https://shop.test"+pass.AddHandover("/", handover(t, s)), nil)
				r.Header.Set("Sec-Fetch-Mode", "navigate")
			}
			w.Header().Add("Set-Cookie", "outer=1") // of a handler before this one
			h.ServeHTTP(w, r)
			if got := w.Header().Values("Set-Cookie"); !slices.Equal(got, []string{"outer=1", c.want}) {
				t.Errorf("Set-Cookie %q, want outer=1 and %q", got, c.want)
			}
		})
	}
}

func TestHandover_CleanAddressIsTheOriginalByteForByte(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	server := newAnteroom(t, "/v1/rooms/sale/redeem", says(200, redeemed(sign(t, s, "sale", 2, noon.Add(time.Minute)), 60)))
	token := handover(t, s)
	for before, want := range map[string]string{
		"/":                       "/",
		"/?":                      "/?",
		"/?a=%2f&&b=+":            "/?a=%2f&&b=+",
		"/%42lack//a/../%2f;v=1?": "/%42lack//a/../%2f;v=1?",
		"//evil.test/a?b":         "http://shop.test//evil.test/a?b",
		`/\evil.test/a?b`:         `http://shop.test/\evil.test/a?b`,
	} {
		_, h := gated(s, func(g *pass.Config) { g.AnteroomURL = server.URL })
		r := request("GET", "http://shop.test/", "Sec-Fetch-Mode", "navigate")
		r.RequestURI = pass.AddHandover(before, token)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header().Get("Location"); got != want || len(w.Header().Values("Set-Cookie")) != 1 {
			t.Errorf("%s: Location %q with %q, want %q", before, got, w.Header().Values("Set-Cookie"), want)
		}
	}
}

func TestHandover_NeverReachesTheHandler(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	token := handover(t, s)
	cookie := "anteroom_p_sale=" + sign(t, s, "sale", 2, noon.Add(time.Minute))
	for name, c := range map[string]struct {
		method, mode, query string
		server, exempt      bool
	}{
		"form post":           {"POST", "navigate", "a=1&anteroom_pass=" + token, true, false},
		"fetch":               {"GET", "cors", "a=1&anteroom_pass=" + token, true, false},
		"PUT":                 {"PUT", "cors", "anteroom_pass=" + token + "&a=1", true, false},
		"exempt call":         {"POST", "cors", "a=1&anteroom_pass=" + token, true, true},
		"escaped":             {"POST", "cors", "a=1&anteroom%5Fpass=" + strings.ReplaceAll(token, ".", "%2E"), true, false},
		"twice":               {"POST", "cors", "anteroom_pass=x&a=1&anteroom_pass=" + token, true, false},
		"page, no server":     {"GET", "navigate", "a=1&anteroom_pass=" + token, false, false},
		"page, no server, ex": {"GET", "navigate", "a=1&anteroom_pass=" + token, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newAnteroom(t, "/v1/rooms/sale/redeem", says(503, ""))
			shop, h := gated(s, func(g *pass.Config) {
				if g.Exempt = func(*http.Request) bool { return c.exempt }; c.server {
					g.AnteroomURL = server.URL
				}
			})
			r := request(c.method, "http://shop.test/cart?"+c.query, "Sec-Fetch-Mode", c.mode, "Cookie", cookie,
				"Referer", "http://shop.test/item?"+c.query+"#top")
			_ = r.ParseForm() // as a handler before this one may
			h.ServeHTTP(httptest.NewRecorder(), r)
			if shop.seen == nil {
				t.Fatal("the shop was not reached")
			}
			seen := shop.seen
			if seen.RequestURI != "/cart?a=1" || seen.URL.RawQuery != "a=1" || seen.Referer() != "http://shop.test/item?a=1#top" || seen.FormValue("anteroom_pass") != "" || seen.FormValue("a") != "1" {
				t.Errorf("the shop saw %s, %s, %s, %v", seen.RequestURI, seen.URL, seen.Referer(), seen.Form)
			}
			if r.URL.RawQuery != c.query || r.FormValue("anteroom_pass") == "" {
				t.Error("the caller's request was changed")
			}
			if got := server.asked(); len(got) != 0 {
				t.Errorf("Anteroom was asked %q", got)
			}
		})
	}
}

func TestHandover_EmptyQueryStaysOne(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	shop, h := gated(s, nil)
	h.ServeHTTP(httptest.NewRecorder(), request("POST", "http://shop.test"+pass.AddHandover("/cart?", handover(t, s)),
		"Cookie", "anteroom_p_sale="+sign(t, s, "sale", 2, noon.Add(time.Minute))))
	if shop.seen == nil || shop.seen.URL.RequestURI() != "/cart?" || shop.seen.RequestURI != "/cart?" {
		t.Errorf("the shop saw %+v", shop.seen)
	}
}

func TestHandover_IsInNoTarget(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	token := handover(t, s)
	for name, c := range map[string]struct{ method, mode, want string }{
		"page": {"GET", "navigate", "http://shop.test/cart?a=1"}, "form": {"POST", "navigate", "http://shop.test/item?a=1"}, "call": {"GET", "cors", "http://shop.test/item?a=1"},
	} {
		_, h := gated(s, nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request(c.method, "http://shop.test"+pass.AddHandover("/cart?a=1", token), "Sec-Fetch-Mode", c.mode,
			"Referer", "http://shop.test"+pass.AddHandover("/item?a=1", token)))
		answer := w.Header().Get("Location") + w.Body.String()
		if !strings.Contains(answer, url.QueryEscape(c.want)) || strings.Contains(answer, token) || strings.Contains(answer, "anteroom_pass") {
			t.Errorf("%s: answered %s, want the target %s", name, answer, c.want)
		}
	}
}

func TestHandover_ExemptPageTakesItToo(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	for status, cookies := range map[int]int{200: 1, 409: 0} {
		server := newAnteroom(t, "/v1/rooms/sale/redeem", says(status, redeemed(sign(t, s, "sale", 2, noon.Add(time.Minute)), 60)))
		_, h := gated(s, func(g *pass.Config) {
			g.AnteroomURL, g.Exempt = server.URL, func(*http.Request) bool { return true }
		})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request("HEAD", "http://shop.test"+pass.AddHandover("/a", handover(t, s)), "Sec-Fetch-Mode", "navigate"))
		if w.Code != 302 || w.Header().Get("Location") != "/a" || len(w.Header().Values("Set-Cookie")) != cookies {
			t.Errorf("Anteroom says %d: %d, %v", status, w.Code, w.Header())
		}
	}
}

func TestHandover_ParallelUseSetsOneCookie(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	var once sync.Once
	good := sign(t, s, "sale", 2, noon.Add(time.Minute))
	server := newAnteroom(t, "/v1/rooms/sale/redeem", func(w http.ResponseWriter, r *http.Request) {
		answer := says(409, `{"status":409}`)
		once.Do(func() { answer = says(200, redeemed(good, 60)) })
		answer(w, r)
	})
	_, h := gated(s, func(g *pass.Config) { g.AnteroomURL = server.URL })
	address := "http://shop.test" + pass.AddHandover(page, handover(t, s))
	var mu sync.Mutex
	cookies, places := 0, map[string]int{}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, request("GET", address, "Sec-Fetch-Mode", "navigate"))
			mu.Lock()
			defer mu.Unlock()
			cookies += len(w.Header().Values("Set-Cookie"))
			places[w.Header().Get("Location")]++
		})
	}
	wg.Wait()
	if cookies != 1 || places[page] != 1 || places[queue] != 49 {
		t.Errorf("%d cookies, %v; want one of 50", cookies, places)
	}
}

func TestHandover_UsedTokenIsNoWarning(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	for status, warnings := range map[int]int{409: 0, 503: 1, 404: 1} {
		server := newAnteroom(t, "/v1/rooms/sale/redeem", says(status, ""))
		var lines bytes.Buffer
		_, h := gated(s, func(g *pass.Config) {
			g.AnteroomURL, g.Logger = server.URL, slog.New(slog.NewTextHandler(&lines, nil))
		})
		h.ServeHTTP(httptest.NewRecorder(), request("GET", "http://shop.test"+pass.AddHandover("/", handover(t, s)), "Sec-Fetch-Mode", "navigate"))
		if got := strings.Count(lines.String(), "level=WARN"); got != warnings {
			t.Errorf("%d: %d warnings, want %d: %s", status, got, warnings, lines.String())
		}
	}
}

// FA-08: the middleware takes no cookie of the shop's away, and nothing of an admitted
// visitor's answer is touched.
func TestMiddleware_KeepsTheShopsCookies(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	want := []string{"cart=1; Path=/", "lang=de", "anteroom_p_sale_seen=1"}
	h := pass.Middleware(pass.Config{Room: "sale", Verifier: at(s, noon), QueueURL: queuePage, AnteroomURL: "https://queue.test"})(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for _, line := range want {
				w.Header().Add("Set-Cookie", line)
			}
		}))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request("GET", "http://shop.test/", "Cookie", "anteroom_p_sale="+sign(t, s, "sale", 1, noon.Add(time.Minute))))
	if got := w.Header().Values("Set-Cookie"); !slices.Equal(got, want) || len(w.Header()) != 1 {
		t.Errorf("headers %v, want the Set-Cookie lines %q alone", w.Header(), want)
	}
}

// FA-03: a client cannot bring our headers along on any way through.
func TestHandover_ForgedHeadersBuyNothing(t *testing.T) {
	t.Parallel()
	s := newSigner(t, newKey(t))
	server := newAnteroom(t, "/v1/rooms/sale/redeem", says(409, ""))
	shop, h := gated(s, func(g *pass.Config) { g.AnteroomURL = server.URL })
	forged := []string{"Anteroom-Visitor", "admin", "X-Anteroom-Room", "sale", "anteroom_pass", "x", "Sec-Fetch-Mode", "navigate"}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request("GET", "http://shop.test"+pass.AddHandover(page, handover(t, s)), forged...))
	if shop.seen != nil || w.Header().Get("Location") != queue {
		t.Errorf("answered %d, %v", w.Code, w.Header())
	}
}

func TestValidate_AnteroomURLIsSchemeAndHost(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"queue.test", "/r", "ftp://queue.test", "https://queue.test/v1", "https://queue.test?x", "https://u:p@queue.test"} {
		c := pass.Config{Room: "sale", Keys: pass.StaticKeys{}, QueueURL: queuePage, AnteroomURL: bad}
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "AnteroomURL") {
			t.Errorf("AnteroomURL %q: %v", bad, err)
		}
		if _, err := pass.NewOnline(pass.OnlineConfig{AnteroomURL: bad}); err == nil {
			t.Errorf("NewOnline took %q", bad)
		}
	}
	c := pass.Config{Room: "sale", Keys: pass.StaticKeys{}, QueueURL: queuePage, MaxSession: -1}
	if err := c.Validate(); err == nil || errors.Is(err, pass.ErrClaims) {
		t.Errorf("a negative MaxSession: %v", err)
	}
}
