package pass

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// retryAfter is when a script may look again, in seconds; the queue page knows better.
const retryAfter = "5"

// problemPath names the problem on Anteroom's own host.
const problemPath = "/problems/waiting-room"

// problem is the answer to a call (RFC 9457).
type problem struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail"`
	QueueURL string `json:"queue_url"`
}

// refuse sends a visitor without a pass to the queue page. It names the address to come
// back to: of a page load its own, else the page that the request came from, for the
// address of a form or a call is not a page.
func (g *gate) refuse(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept, Authorization, Cookie, Sec-Fetch-Mode, X-Requested-With")
	site := g.siteOf(r)
	switch kindOf(r) {
	case page:
		http.Redirect(w, r, g.pageFor(site+requestURI(r)), http.StatusFound)
	case form:
		http.Redirect(w, r, g.pageFor(site+refererURI(r, site)), http.StatusSeeOther)
	case call:
		h.Set("Content-Type", "application/problem+json")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Retry-After", retryAfter)
		w.WriteHeader(http.StatusTooManyRequests)
		// A client that went away is no error of ours.
		_ = json.NewEncoder(w).Encode(problem{
			Type: g.problem, Title: "Waiting room", Status: http.StatusTooManyRequests,
			Detail:   "This site admits visitors in turn. Open queue_url in a browser to join the line.",
			QueueURL: g.pageFor(site + refererURI(r, site)),
		})
	}
}

func (g *gate) pageFor(target string) string { return g.queuePage + url.QueryEscape(target) }

// siteOf is the scheme and host of the request. The queue page checks the host against
// the room's list, so a forged one leads nowhere.
func (g *gate) siteOf(r *http.Request) string {
	switch {
	case g.site != "":
		return g.site
	case r.TLS != nil:
		return "https://" + r.Host
	default:
		return "http://" + r.Host
	}
}

// requestURI is path and query byte for byte as the client sent them, whatever a router
// has made of r.URL since. It starts with a slash.
func requestURI(r *http.Request) string {
	uri := r.RequestURI
	if strings.HasPrefix(uri, "/") {
		return uri
	}
	if _, rest, ok := strings.Cut(uri, "://"); ok { // the absolute form, as to a proxy
		switch i := strings.IndexAny(rest, "/?"); {
		case i < 0:
			return "/"
		case rest[i] == '?':
			return "/" + rest[i:]
		default:
			return rest[i:]
		}
	}
	if uri = r.URL.RequestURI(); strings.HasPrefix(uri, "/") { // a request made by hand
		return uri
	}
	return "/"
}

// refererURI is path and query of the page that the request came from, if it is of this
// site, else the front page.
func refererURI(r *http.Request, site string) string {
	ref, err := url.Parse(r.Referer())
	if err != nil || !strings.EqualFold(ref.Scheme+"://"+ref.Host, site) {
		return "/"
	}
	return ref.RequestURI()
}
