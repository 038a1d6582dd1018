package deliver

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// ErrConfig is wrapped by what New finds wrong.
var ErrConfig = errors.New("deliver: configuration")

// Config is what a Deliverer needs to know: one queue's settings.
type Config struct {
	// Secrets sign every delivery, all of them; more than one while they rotate.
	// Required unless Unsigned.
	Secrets []Secret
	// Unsigned says that no secrets are meant: receivers cannot tell who calls.
	Unsigned bool
	// Timeout is the one deadline of an attempt: resolving, connecting, TLS, sending and
	// reading the answer. Default 30 s.
	Timeout time.Duration
	// AllowPrivate lets deliveries go to private and loopback addresses and to any port.
	AllowPrivate bool
	// CA has the certificates, in PEM form, that the destination's must descend from. They
	// stand in place of the system's, so that no public authority can speak for a private
	// destination. Empty = the system's.
	CA []byte
	// Headers are sent with every delivery, such as Authorization. Those that frame the
	// request or that Anteroom sets are refused.
	Headers map[string]string
	// Concurrency is how many idle connections are kept: as many as attempts run at once,
	// or they connect anew each time. It limits nothing. Default 16.
	Concurrency int
	// DefaultPause is the pause after a 429 or 503 that names none. Default 30 s.
	DefaultPause time.Duration
	// MaxPause bounds every pause. Default 1 h.
	MaxPause time.Duration
	// Now is the clock of timestamps and Took; nil is time.Now. Timeouts go by real time.
	Now func() time.Time
}

// hooks is what tests replace: where names are resolved, and a last word on every address
// that passed the checks and is about to be dialled.
type hooks struct {
	resolver *net.Resolver
	dialled  func(address string) error
}

func productionHooks() hooks {
	return hooks{
		// Go's own resolver obeys the deadline; the C library's holds a thread past it.
		resolver: &net.Resolver{PreferGo: true},
		dialled:  func(string) error { return nil },
	}
}

// withDefaults fills in what is not set.
func (c Config) withDefaults() Config {
	byDefault := func(d *time.Duration, value time.Duration) {
		if *d <= 0 {
			*d = value
		}
	}
	byDefault(&c.Timeout, 30*time.Second)
	byDefault(&c.MaxPause, time.Hour)
	byDefault(&c.DefaultPause, 30*time.Second)
	if c.Concurrency <= 0 {
		c.Concurrency = 16
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// validate reports every mistake at once, without what is secret.
func (c Config) validate() error {
	var found []error
	switch {
	case len(c.Secrets) == 0 && !c.Unsigned:
		found = append(found, errors.New("no signing secret, and not said to be unsigned"))
	case len(c.Secrets) > 0 && c.Unsigned:
		found = append(found, errors.New("signing secrets, and said to be unsigned"))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		found = append(found, checkHeader(name, c.Headers[name]))
	}
	return errors.Join(found...)
}

// reserved are headers that a queue may not set, with the reason by group.
var reserved = map[string]string{
	"Host": frames, "Content-Length": frames, "Transfer-Encoding": frames, "Connection": frames, "Keep-Alive": frames,
	"Te": frames, "Trailer": frames, "Upgrade": frames, "Expect": frames, "Proxy-Connection": frames, "Http2-Settings": frames,
	"Accept-Encoding": "would bring answers that are not read", "Content-Type": "comes with the job",
	// net/http sends a request that has one of these a second time by itself.
	"Idempotency-Key": twice, "X-Idempotency-Key": twice,
}

const (
	frames = "frames the request"
	twice  = "would let an attempt be sent twice; receivers know a job by Webhook-Id"
)

func checkHeader(name, value string) error {
	canonical := http.CanonicalHeaderKey(name)
	switch {
	case !isToken(name):
		return fmt.Errorf("the header name %q is not valid", name)
	case !isFieldValue(value):
		return fmt.Errorf("the value of header %s is not valid", canonical)
	case reserved[canonical] != "":
		return fmt.Errorf("header %s: %s", canonical, reserved[canonical])
	case strings.HasPrefix(canonical, "Webhook-"), strings.HasPrefix(canonical, "Anteroom-"):
		return fmt.Errorf("header %s: is Anteroom's own", canonical)
	}
	return nil
}

// isToken reports whether s can be a header's name (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		return !letter && (r < '0' || r > '9') && !strings.ContainsRune(marks, r)
	}) < 0
}

// isFieldValue reports whether s can be a header's value: visible ASCII, spaces and tabs.
// A line break in it would begin another header.
func isFieldValue(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return (r < ' ' && r != '\t') || r >= 0x7f }) < 0
}
