package rehearse

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// maxHops is how many redirects a page load follows.
const maxHops = 5

// landing is the page at which a page load ended: the shop's or the queue page.
type landing struct {
	shop bool
	uri  string // path and query that the shop was asked for
	desk desk   // of a queue page
}

// desk is whom the script of a queue page asks.
type desk struct {
	address string // of the page
	base    string // …/v1/rooms/<room> on the page's own host
	room    string
	target  string // where the visitor wants to go, by the page
}

// newJar makes the cookies of one visitor. Like a browser's they are kept by host, whatever
// the port.
func newJar() *cookiejar.Jar {
	jar, _ := cookiejar.New(nil) // never fails
	return jar
}

// browse loads a page as a browser does: with the cookies of each host, redirect by
// redirect. What it comes to is in the answer, and so is a fault that is not the network's.
func (w *wire) browse(ctx context.Context, c call, a *answer) error {
	at, err := url.Parse(c.address)
	for err == nil && at != nil {
		if a.hops > maxHops { // the first request is no redirect
			a.fault = "too many redirects"
			return nil
		}
		a.hops, a.at = a.hops+1, at.String()
		at, err = w.load(ctx, at, c.jar, a)
	}
	return err
}

// load sends one GET and returns where it is redirected to; nil = this was the last.
func (w *wire) load(ctx context.Context, at *url.URL, jar *cookiejar.Jar, a *answer) (*url.URL, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Accept":         "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
		"Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "none", "Sec-Fetch-User": "?1",
		"Upgrade-Insecure-Requests": "1", "User-Agent": userAgent,
	} {
		r.Header.Set(name, value)
	}
	bring(r, jar)
	resp, err := w.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	jar.SetCookies(at, resp.Cookies())
	a.status, a.retryAfter = resp.StatusCode, retryAfter(resp.Header.Get("Retry-After"), time.Now())
	if to := resp.Header.Get("Location"); to != "" && a.status >= 300 && a.status < 400 {
		next, err := at.Parse(to)
		if err != nil || next.Scheme != "http" && next.Scheme != "https" || next.Host == "" {
			a.fault = "unreadable redirect"
			return nil, nil
		}
		return next, nil
	}
	a.landed, a.fault = arrive(at, a.status, string(text))
	if echo := resp.Header.Get("Echo-URI"); echo != "" {
		a.landed.uri = echo
	}
	if d := a.landed.desk; a.fault == "" && !a.landed.shop && w.room != "" && d.room != w.room {
		a.fault = "queue page of another room"
	}
	return nil, nil
}

// userAgent starts as a browser's does: who looks like a program may be let through.
const userAgent = "Mozilla/5.0 anteroom-rehearse"

// bring shows the cookies that a jar has for a request.
func bring(r *http.Request, jar *cookiejar.Jar) {
	for _, c := range jar.Cookies(r.URL) {
		r.AddCookie(c)
	}
}

// marker is in every queue page, and in no page of a shop.
const marker = `id="queue"`

var (
	mainTag    = regexp.MustCompile(`<[^<>]*\s` + marker + `[^<>]*>`)
	dataRoom   = regexp.MustCompile(`\sdata-room="([^"]*)"`)
	dataTarget = regexp.MustCompile(`\sdata-target="([^"]*)"`)
)

// arrive tells what page an answer is: a queue page by its marker or its address, else the
// shop's if the status is 200. Anything else is a fault, which it names.
func arrive(at *url.URL, status int, text string) (landing, string) {
	marked := strings.Contains(text, marker)
	path, own := strings.CutPrefix(at.EscapedPath(), "/r/")
	query := at.Query()
	switch {
	case status == http.StatusServiceUnavailable && marked: // the room's store is away
	case status != http.StatusOK:
		return landing{}, fmt.Sprintf("http %d", status)
	case !marked && (!own || !query.Has("target")):
		return landing{shop: true, uri: at.RequestURI()}, ""
	}
	tag := mainTag.FindString(text)
	d := desk{address: at.String(), room: attribute(dataRoom, tag), target: query.Get("target")}
	if own {
		d.room, _ = url.PathUnescape(strings.TrimRight(path, "/"))
	}
	if dataTarget.MatchString(tag) {
		d.target = attribute(dataTarget, tag)
	}
	if d.room == "" {
		return landing{}, "queue page without a room"
	}
	d.base = apiBase(at.Scheme+"://"+at.Host, d.room)
	return landing{desk: d}, ""
}

func attribute(of *regexp.Regexp, tag string) string {
	if m := of.FindStringSubmatch(tag); m != nil {
		return html.UnescapeString(m[1])
	}
	return ""
}

// errTwoRooms is wrapped when the addresses lead to different rooms.
var errTwoRooms = errors.New("one run plays one room")

// scout walks to each of the shop's addresses once, and learns the room and where its page
// asks. It takes no place. base is empty when every address leads straight to the shop.
func (c *Config) scout(ctx context.Context, w *wire) (base string, err error) {
	w.room = "" // each room that is met is told here
	for _, address := range c.Through {
		a := w.send(ctx, call{phase: arriving, address: address, jar: newJar()})
		d := a.landed.desk
		switch {
		case a.fault != "":
			return "", fmt.Errorf("%s: %s", address, a.fault)
		case a.landed.shop:
			continue
		case c.Room != "" && d.room != c.Room:
			return "", fmt.Errorf("%s leads to the room %q, not to %q: %w", address, d.room, c.Room, errTwoRooms)
		case base == "":
			c.Room, base = d.room, d.base
		}
	}
	w.room = c.Room
	return base, nil
}
