package pass

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config is what Middleware needs to know.
type Config struct {
	// Room is the room whose passes are accepted; required.
	Room string
	// Keys are the public keys; required unless Verifier is set.
	Keys Keys
	// Verifier checks the passes. The zero value is one over Keys that accepts any issuer.
	Verifier Verifier
	// QueueURL is the room's queue page, such as https://queue.example/r/sale, or a path
	// such as /r/sale when it is on the same host; required. The page is not itself behind
	// the middleware.
	QueueURL string
	// AnteroomURL is scheme and host of the Anteroom server, such as https://queue.example.
	// It is required where the queue page is on another host than the site: visitors then
	// bring a hand-over token in the URL, which is swapped for a pass there. Empty redeems
	// none; the site needs the pass's cookie from elsewhere.
	AnteroomURL string
	// PublicURL is the site's own scheme and host as browsers see them, such as
	// https://shop.example. Empty takes them from the request: set it behind a proxy
	// that ends TLS, or the pass's cookie is not Secure.
	PublicURL string
	// Origins are other hosts (host or host:port) whose pages call this site's API. They may
	// read that a call was refused.
	Origins []string
	// CookieName is the cookie that carries the pass. Default CookieName(Room).
	CookieName string
	// MinGeneration, if set, names the oldest generation of the room that is accepted.
	// It is asked for every request that shows a pass.
	MinGeneration func() int64
	// MaxSession is the room's max_session where its sessions slide, else 0. The cookie
	// lives for as long, and with Online a pass is asked about for as long after its end.
	MaxSession time.Duration
	// Online, if set, is asked about every pass that is good by its signature: a release,
	// a reset and a session that slid on are seen that way. NewOnline makes one.
	Online Checker
	// OnlineError is what to do with a pass that Online could not be asked about. Default
	// OnErrorAccept.
	OnlineError OnError
	// Exempt, if set, lets requests through that need no pass, such as assets and
	// health checks (and Preflight, where a foreign origin calls an API).
	Exempt func(*http.Request) bool
	// Client redeems hand-over tokens; nil is one with timeouts that follows no redirects.
	Client *http.Client
	// Logger gets the reason, at debug level, of each pass that is refused, and a warning
	// for each hand-over that fails on the way to Anteroom; nil logs nothing. Passes and
	// tokens are not logged.
	Logger *slog.Logger
}

// OnError is what becomes of a pass while the online check cannot be made.
type OnError int

// What to do on an error.
const (
	OnErrorAccept OnError = iota // the offline check stands: good until its exp
	OnErrorRefuse                // nobody enters unasked
)

// CookieName is the cookie that carries a room's pass.
func CookieName(room string) string { return "anteroom_p_" + room }

// Validate reports every problem of c.
func (c Config) Validate() error {
	var problems []error
	if c.Room == "" {
		problems = append(problems, errors.New("pass: Room is required"))
	}
	if c.Keys == nil && c.Verifier.Keys == nil {
		problems = append(problems, errors.New("pass: Keys or a Verifier with Keys is required"))
	}
	if _, err := queueURL(c.QueueURL); err != nil {
		problems = append(problems, err)
	}
	for field, raw := range map[string]string{"PublicURL": c.PublicURL, "AnteroomURL": c.AnteroomURL} {
		if raw == "" {
			continue
		}
		if _, err := hostURL(field, raw); err != nil {
			problems = append(problems, err)
		}
	}
	if c.MaxSession < 0 {
		problems = append(problems, errors.New("pass: MaxSession is negative"))
	}
	return errors.Join(problems...)
}

// queueURL parses an absolute URL or a path on the same host. Two slashes would name
// another host, and browsers take a backslash for a slash.
func queueURL(raw string) (*url.URL, error) {
	if !strings.HasPrefix(raw, "/") {
		return siteURL("QueueURL", raw)
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host != "" || strings.HasPrefix(raw, "//") || strings.Contains(raw, `\`) {
		return nil, errors.New("pass: QueueURL: want an absolute http or https URL, or a path")
	}
	return u, nil
}

// hostURL reads scheme and host alone, and returns them without a slash at the end.
func hostURL(field, raw string) (string, error) {
	u, err := siteURL(field, raw)
	if err != nil {
		return "", err
	}
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", errors.New("pass: " + field + ": want scheme and host alone")
	}
	return u.Scheme + "://" + u.Host, nil
}
