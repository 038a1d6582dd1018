package rehearse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"
)

// integration is how a fake gate stands before its shop.
type integration string

const (
	forwardAuth integration = "forward auth on the shop's host"
	inPlace     integration = "reverse proxy, the page in place"
	otherDomain integration = "another domain, the pass handed over"
)

// The flaws of a gate.
const (
	blurring   flaw = "writes the query anew"
	dropping   flaw = "forgets where people wanted to go"
	unclean    flaw = "leaves the token in the address"
	barring    flaw = "accepts no pass"
	evicting   flaw = "puts people out after a second"
	lingering  flaw = "knows passes of people who left"
	tardy      flaw = "knows them for three seconds"
	straight   flaw = "lets some straight in"
	closedShop flaw = "a shop that answers 404"
	looping    flaw = "redirects for ever"
)

const (
	shopHost  = "shop.test"
	queueHost = "queue.test"
	wanted    = "/sale?a=1&b=2&b=3&c=%26%3D%2B+x&empty=&flag"
)

// fakeGate is a shop behind a gate, and the queue page and API of the fake for it. It
// knows visitors by cookies alone.
type fakeGate struct {
	*fake
	as      integration
	mute    bool // the shop does not echo its request
	used    map[string]bool
	left    map[string]time.Time // when a visitor left, by the subject of its pass
	loads   int
	refused []string // requests that no browser would send
}

func newGate(as integration, f flaw) *fakeGate {
	return &fakeGate{fake: newFake(f), as: as, used: map[string]bool{}, left: map[string]time.Time{}}
}

// page is the host of the queue page and the API.
func (g *fakeGate) page() string {
	if g.as == otherDomain {
		return queueHost
	}
	return shopHost
}

func (g *fakeGate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.fake.mu.Lock()
	if g.odd(r) {
		g.refused = append(g.refused, r.Method+" "+r.URL.String())
	}
	g.fake.mu.Unlock()
	switch {
	case r.URL.Host == g.page() && strings.HasPrefix(r.URL.Path, "/v1/"):
		g.api(w, r)
	case r.URL.Host == g.page() && r.URL.Path == "/r/sale":
		g.queuePage(w, http.StatusOK, r.URL.Query().Get("target"))
	case r.URL.Host == shopHost:
		g.shop(w, r)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// odd tells a request that a browser would not send like this.
func (g *fakeGate) odd(r *http.Request) bool {
	mode := r.Header.Get("Sec-Fetch-Mode")
	switch {
	case strings.HasSuffix(r.URL.Path, "/release"), r.URL.Path == "/v1/rooms/sale": // the shop's, and our own
		return false
	case strings.HasPrefix(r.URL.Path, "/v1/"):
		_, err := r.Cookie("anteroom_t_sale")
		foreign := r.Method != http.MethodGet && r.Header.Get("Origin") != "http://"+g.page()
		return mode != "cors" || foreign || r.Header.Get("Authorization") != "" || err != nil && r.Method+r.URL.Path != "POST/v1/rooms/sale/ticket"
	}
	return mode != "navigate" || !strings.HasPrefix(r.Header.Get("Accept"), "text/html") || r.Method != http.MethodGet
}

func setCookie(w http.ResponseWriter, name, value string, life int) {
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: life, HttpOnly: true})
}

func cookieOf(r *http.Request, name string) string {
	c, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

// api puts cookies in the place of the fake's bearer tokens.
func (g *fakeGate) api(w http.ResponseWriter, r *http.Request) {
	if t := cookieOf(r, "anteroom_t_sale"); t != "" {
		r.Header.Set("Authorization", "Bearer "+t)
	}
	rec := httptest.NewRecorder()
	g.fake.ServeHTTP(rec, r)
	var out map[string]any
	_ = json.Unmarshal(rec.Body.Bytes(), &out)
	if t, ok := out["ticket"].(string); ok {
		setCookie(w, "anteroom_t_sale", t, 3600)
	}
	if p, ok := out["pass"].(string); ok {
		setCookie(w, "anteroom_p_sale", p, int(out["expires_in_s"].(float64)))
		out["redirect"] = g.redirect(fmt.Sprint(out["redirect"]), p)
		text, _ := json.Marshal(out)
		rec.Body = bytes.NewBuffer(text)
	}
	if out["state"] == "left" {
		g.fake.mu.Lock()
		g.left["s"+strings.TrimPrefix(cookieOf(r, "anteroom_t_sale"), "t")] = time.Now()
		g.fake.mu.Unlock()
		setCookie(w, "anteroom_p_sale", "", -1)
		setCookie(w, "anteroom_t_sale", "", -1)
	}
	w.WriteHeader(rec.Code)
	_, _ = w.Write(rec.Body.Bytes())
}

// redirect is where a claim sends the visitor.
func (g *fakeGate) redirect(target, pass string) string {
	u, _ := url.Parse(target)
	switch g.flaw {
	case blurring:
		u.RawQuery = u.Query().Encode()
		target = u.String()
	case dropping:
		target = "http://" + shopHost + "/"
	}
	if g.as == otherDomain {
		target += "&anteroom_pass=" + pass
	}
	return target
}

func (g *fakeGate) queuePage(w http.ResponseWriter, status int, target string) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `<!DOCTYPE html><html><body><main id="queue" data-room="sale" data-title="S" data-target="%s" data-state="new">Line</main></body></html>`, html.EscapeString(target))
}

func (g *fakeGate) shop(w http.ResponseWriter, r *http.Request) {
	uri := r.URL.RequestURI()
	if clean, token, ok := strings.Cut(uri, "&anteroom_pass="); ok && g.flaw != unclean && g.fresh(token) {
		setCookie(w, "anteroom_p_sale", token, 60)
		w.Header().Set("Location", clean)
		w.WriteHeader(http.StatusSeeOther)
		return
	} else if ok && g.flaw == unclean {
		setCookie(w, "anteroom_p_sale", token, 60)
		r.AddCookie(&http.Cookie{Name: "anteroom_p_sale", Value: token})
	}
	site := "http://" + shopHost
	switch {
	case g.flaw == looping && cookieOf(r, "anteroom_p_sale") != "":
		http.Redirect(w, r, uri, http.StatusFound)
	case g.admits(cookieOf(r, "anteroom_p_sale")) && g.flaw == closedShop:
		w.WriteHeader(http.StatusNotFound)
	case g.admits(cookieOf(r, "anteroom_p_sale")), g.straightIn(r):
		if !g.mute {
			w.Header().Set("Echo-URI", uri)
		}
		_, _ = w.Write([]byte("<h1>Shop</h1>"))
	case g.as == inPlace:
		g.queuePage(w, http.StatusServiceUnavailable, site+uri)
	default:
		http.Redirect(w, r, "http://"+g.page()+"/r/sale?target="+url.QueryEscape(site+uri), http.StatusFound)
	}
}

// fresh uses a token up.
func (g *fakeGate) fresh(token string) bool {
	g.fake.mu.Lock()
	defer g.fake.mu.Unlock()
	before := g.used[token]
	g.used[token] = true
	return !before
}

func (g *fakeGate) straightIn(r *http.Request) bool {
	g.fake.mu.Lock()
	defer g.fake.mu.Unlock()
	g.loads++
	return g.flaw == straight && g.loads%10 == 5 && len(r.Cookies()) == 0
}

// admits tells whether a pass opens the shop.
func (g *fakeGate) admits(pass string) bool {
	g.fake.mu.Lock()
	defer g.fake.mu.Unlock()
	var n int
	sub, _ := subject(pass)
	if _, err := fmt.Sscanf(sub, "s-%d", &n); err != nil || g.flaw == barring {
		return false
	}
	p := g.places[n]
	switch {
	case p.state == "active" && p.isInside:
		return g.flaw != evicting || time.Until(p.until) > g.session-time.Second
	case g.flaw == tardy:
		return time.Since(g.left[sub]) < 3*time.Second
	case g.flaw == lingering:
		return true
	}
	return time.Since(g.left[sub]) < time.Second // a sound gate remembers for a little while
}
