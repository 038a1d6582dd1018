package rehearse

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"time"
)

// maxAnswer is the most that is read of an answer.
const maxAnswer = 64 << 10

// call is one request to send.
type call struct {
	who    int
	phase  phase
	url    int // which of the servers
	due    time.Duration
	key    string // Idempotency-Key of a join
	ticket string
	pass   string

	// Of a visitor that walks through the gate:
	jar     *cookiejar.Jar
	address string // the page to load
	desk    desk   // whom its queue page asks
}

// wire sends calls. It is safe for concurrent use.
type wire struct {
	client *http.Client
	bases  []string // …/v1/rooms/<room>, one a server
	room   string
	apiKey string
	join   string // body of a join
	start  time.Time
}

func newWire(c *Config, start time.Time) *wire {
	w := &wire{room: c.Room, apiKey: c.APIKey, start: start}
	for _, u := range c.URLs {
		w.bases = append(w.bases, apiBase(u, c.Room))
	}
	w.join = targetBody(c.Target)
	w.client = &http.Client{
		Transport:     c.Transport,
		Timeout:       c.RequestTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if c.Transport == nil {
		w.client.Transport = &http.Transport{
			DialContext:         (&net.Dialer{Timeout: c.RequestTimeout}).DialContext,
			MaxConnsPerHost:     c.Connections,
			MaxIdleConnsPerHost: c.Connections,
			DisableCompression:  true,
		}
	}
	return w
}

// apiBase is where a server answers for a room.
func apiBase(server, room string) string {
	return strings.TrimRight(server, "/") + "/v1/rooms/" + url.PathEscape(room)
}

func (w *wire) close() { w.client.CloseIdleConnections() }

// request builds the request of a call.
func (w *wire) request(ctx context.Context, c call) (*http.Request, error) {
	base, method, path, text := w.base(c), http.MethodGet, "/ticket", ""
	switch c.phase {
	case joining:
		method, text = http.MethodPost, w.joinBody(c)
	case claiming, again:
		method, path = http.MethodPost, "/ticket/claim"
	case leaving, releasing:
		method = http.MethodDelete
	case byOrigin:
		b, _ := json.Marshal(map[string]string{"pass": c.pass}) // strings always marshal
		method, path, text = http.MethodPost, "/release", string(b)
	}
	var payload io.Reader
	if text != "" {
		payload = strings.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, base+path, payload)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	if text != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w.identify(r, c)
	return r, nil
}

// base is where a call goes: to a server, or in a browser to the host of its page.
func (w *wire) base(c call) string {
	if c.jar != nil {
		return c.desk.base
	}
	return w.bases[c.url]
}

func (w *wire) joinBody(c call) string {
	if c.jar != nil {
		return targetBody(c.desk.target)
	}
	return w.join
}

func targetBody(target string) string {
	if target == "" {
		return ""
	}
	text, _ := json.Marshal(map[string]string{"target": target}) // strings always marshal
	return string(text)
}

// identify says who sends a request: by a ticket, or as a browser does by its cookies.
func (w *wire) identify(r *http.Request, c call) {
	if c.phase == joining {
		r.Header.Set("Idempotency-Key", c.key)
	}
	switch {
	case c.phase == byOrigin:
		r.Header.Set("Authorization", "Bearer "+w.apiKey)
	case c.jar != nil:
		bring(r, c.jar)
		r.Header.Set("User-Agent", userAgent)
		r.Header.Set("Sec-Fetch-Mode", "cors")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		if r.Method != http.MethodGet {
			r.Header.Set("Origin", r.URL.Scheme+"://"+r.URL.Host)
		}
	case c.phase != joining:
		r.Header.Set("Authorization", "Bearer "+c.ticket)
	}
	if c.phase == again && c.jar == nil { // a page that claims again has the pass as a cookie
		r.AddCookie(&http.Cookie{Name: "anteroom_p_" + w.room, Value: c.pass}) //nolint:gosec // sent, not set: a request's cookie has no attributes
	}
}

// send sends a call and waits for its answer, for as long as the client's timeout.
func (w *wire) send(ctx context.Context, c call) answer {
	a := answer{sent: time.Since(w.start)}
	var err error
	if c.phase.loads() {
		err = w.browse(ctx, c, &a)
	} else {
		err = w.ask(ctx, c, &a)
	}
	a.done = time.Since(w.start)
	switch {
	case a.fault != "":
	case err != nil:
		a.status, a.fault = 0, kind(err)
	case !slices.Contains(expected[c.phase], a.status):
		a.fault = fmt.Sprintf("http %d", a.status)
	}
	return a
}

// ask fills in the answer of the API. A 2xx whose body cannot be read as JSON is a fault.
func (w *wire) ask(ctx context.Context, c call, a *answer) error {
	r, err := w.request(ctx, c)
	if err != nil {
		return err
	}
	a.sent = time.Since(w.start)
	resp, err := w.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return err
	}
	// Who leaves keeps its cookies: the line and the gate must remember by themselves.
	if c.jar != nil && c.phase != leaving && c.phase != releasing {
		c.jar.SetCookies(r.URL, resp.Cookies())
	}
	a.status = resp.StatusCode
	a.retryAfter = retryAfter(resp.Header.Get("Retry-After"), time.Now())
	if a.status == http.StatusOK || a.status == http.StatusCreated {
		if json.Unmarshal(text, &a.body) != nil {
			a.fault = "unreadable answer"
		}
	}
	return nil
}

// status is what a server says of a room in public.
type status struct {
	Capacity int `json:"capacity"`
}

// look asks the servers for the room's public status, until one answers with it.
func (w *wire) look(ctx context.Context) (status, error) {
	var s status
	var last error
	for _, base := range w.bases {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, base, http.NoBody)
		if err != nil {
			return s, err
		}
		r.Header.Set("Accept", "application/json")
		resp, err := w.client.Do(r)
		if err != nil {
			last = err
			continue
		}
		err = json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&s)
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusNotFound {
			return s, fmt.Errorf("%s: there is no room %q", base, w.room)
		}
		if resp.StatusCode == http.StatusOK && err == nil {
			return s, nil
		}
		last = fmt.Errorf("%s answered %d", base, resp.StatusCode)
	}
	return s, last
}
