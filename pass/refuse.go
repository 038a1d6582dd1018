package pass

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// RetryAfter is when a script may look again, in seconds; the queue page knows better.
const RetryAfter = "5"

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

// Refusal answers requests without a pass, in the way that each can use.
type Refusal struct {
	page    string   // the queue page, all but the target's value
	problem string   // URI of the problem type
	origins []string // hosts whose pages may read the answer to a call
}

// NewRefusal sends visitors to a queue page: an absolute http or https URL, or a path on
// the same host. Pages of the hosts in origins (host or host:port) may read the answer to
// a call from another origin.
func NewRefusal(queuePage string, origins ...string) (*Refusal, error) {
	u, err := queueURL(queuePage)
	if err != nil {
		return nil, err
	}
	u.Fragment, u.RawFragment = "", ""
	q := &Refusal{problem: u.ResolveReference(&url.URL{Path: problemPath}).String(), origins: origins}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += "target="
	q.page = u.String()
	return q, nil
}

// Location is the queue page for a request of a site (scheme and host as browsers see
// them), with the address to come back to: of a page load its own, else the page that the
// request came from, for the address of a form or a call is not a page. A hand-over token
// is never part of it.
func (q *Refusal) Location(r *http.Request, site string) string {
	target := site + refererURI(r, site)
	if kindOf(r) == page {
		uri, _, _ := CutHandover(requestURI(r))
		target = site + uri
	}
	return q.page + url.QueryEscape(target)
}

// Serve sends page loads to the queue page by 302 and form posts by 303. Calls get 429
// with problem+json that names the page.
func (q *Refusal) Serve(w http.ResponseWriter, r *http.Request, site string) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept, Authorization, Cookie, Sec-Fetch-Mode, X-Requested-With")
	switch kindOf(r) {
	case page:
		http.Redirect(w, r, q.Location(r, site), http.StatusFound)
	case form:
		http.Redirect(w, r, q.Location(r, site), http.StatusSeeOther)
	case call:
		q.CORS(h, r)
		h.Set("Content-Type", "application/problem+json")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Retry-After", RetryAfter)
		w.WriteHeader(http.StatusTooManyRequests)
		// A client that went away is no error of ours.
		_ = json.NewEncoder(w).Encode(problem{
			Type: q.problem, Title: "Waiting room", Status: http.StatusTooManyRequests,
			Detail:   "This site admits visitors in turn. Open queue_url in a browser to join the line.",
			QueueURL: q.Location(r, site),
		})
	}
}

// CORS lets a page of an allowed origin read the answer to r, and its Retry-After.
func (q *Refusal) CORS(h http.Header, r *http.Request) {
	origin, err := url.Parse(r.Header.Get("Origin"))
	if err != nil || origin.Scheme != "http" && origin.Scheme != "https" || !slices.Contains(q.origins, strings.ToLower(origin.Host)) {
		return
	}
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
	h.Set("Access-Control-Allow-Credentials", "true")
	h.Set("Access-Control-Expose-Headers", "Retry-After")
}

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
// site, else the front page. A hand-over token is no part of it.
func refererURI(r *http.Request, site string) string {
	ref, err := url.Parse(r.Referer())
	if err != nil || !strings.EqualFold(ref.Scheme+"://"+ref.Host, site) {
		return "/"
	}
	uri, _, _ := CutHandover(ref.RequestURI())
	return uri
}
