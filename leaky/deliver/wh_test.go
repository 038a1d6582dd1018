package deliver_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/anteroom/anteroom/leaky/deliver"
)

// A redirect is a failure wherever it leads; only the address of the first hop is dialled.
func TestWH02_RedirectsAreNoSuccessAndAreNotFollowed(t *testing.T) {
	t.Parallel()
	var target atomic.Value
	code := atomic.Int64{}
	rec := newReceiver(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.URL.Path == "/ok" {
			return
		}
		w.Header().Set("Location", target.Load().(string))
		w.WriteHeader(int(code.Load()))
	})
	var dialled sync.Map
	d, err := deliver.NewHooked(deliver.Config{Secrets: []deliver.Secret{secret}, AllowPrivate: true}, nil,
		func(address string) error { dialled.Store(address, true); return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	calls := 0
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, to := range []string{rec.URL + "/ok", "http://169.254.169.254/", rec.URL + "/loop", "/ok", "", "ht!tp:// %zz"} {
			code.Store(int64(status))
			target.Store(to)
			got := send(d, rec.URL+"/loop")
			calls++
			want(t, got, deliver.Retry, deliver.CauseStatus, "redirects are not followed", to)
			if got.Status != status || !got.Outcome.CostsAttempt() {
				t.Errorf("%d to %q: %+v", status, to, got)
			}
		}
	}
	if seen := rec.seen(); len(seen) != calls {
		t.Errorf("receiver saw %d calls, want %d", len(seen), calls)
	}
	dialled.Range(func(address, _ any) bool {
		if address != rec.Listener.Addr().String() {
			t.Errorf("dialled %s", address)
		}
		return true
	})
}

// None of these is contacted, and each says why. The hook stands just before connect(2).
func TestWH03_BlockedDestinations(t *testing.T) {
	t.Parallel()
	d := strictDeliverer(t, nil)
	for url, words := range map[string]string{
		"http://[::ffff:127.0.0.1]/":                 "loopback",
		"http://[::]/":                               "unspecified",
		"http://0.0.0.0/":                            "unspecified",
		"http://2130706433/":                         "number",
		"http://0x7f.1/":                             "number",
		"http://127.1/":                              "number",
		"http://0177.0.0.1/":                         "number",
		"http://0x7f000001/":                         "number",
		"http://127.0.0.1./":                         "number",
		"http://user@169.254.169.254/":               "user before the host",
		"http://169.254.169.254/latest/meta-data":    "metadata",
		"http://[fd00:ec2::254]/":                    "metadata",
		"http://[::ffff:169.254.169.254]/":           "metadata",
		"http://[64:ff9b::a9fe:a9fe]/":               "NAT64",
		"http://[2002:a9fe:a9fe::1]/":                "6to4",
		"http://[fe80::1%25lo]/":                     "link-local",
		"http://10.0.0.1/":                           "private",
		"http://100.64.0.1/":                         "carrier-grade NAT",
		"http://localhost/":                          "this machine",
		"http://api.LOCALHOST./":                     "this machine",
		"http://example.com:6379/":                   "port 6379",
		"http://example.com:22/":                     "port 22",
		"http://example.com:0/":                      "port",
		"http://example.com:99999/":                  "port",
		"gopher://example.com/":                      "scheme",
		"http:///path":                               "no host",
		"http:example.com":                           "no host",
		"http://exa mple.com/":                       "character",
		"http://example.com/? HTTP/1.1\r\nX-Evil: 1": "character",
		"http://①②⑦.⓪.⓪.①/":                          "character",
		"http://exam!ple/":                           "no name",
	} {
		got := send(d, url)
		if got.Outcome != deliver.Dead || !strings.Contains(got.Reason, words) {
			t.Errorf("%s: %+v, want dead with %q", url, got, words)
		}
		if err := deliver.CheckURL(url, false); err == nil || (!errors.Is(err, deliver.ErrURL) && !errors.Is(err, deliver.ErrBlocked)) {
			t.Errorf("%s may be saved: %v", url, err)
		}
	}
}

// strictDeliverer refuses private networks, and fails the test if an address passes its
// checks, other than those in passes, which are noted and not dialled either.
func strictDeliverer(t *testing.T, resolver *net.Resolver, passes ...string) *deliver.Deliverer {
	t.Helper()
	d, err := deliver.NewHooked(deliver.Config{Secrets: []deliver.Secret{secret}}, resolver, func(address string) error {
		for _, pass := range passes {
			if address == pass {
				return errStopped
			}
		}
		t.Errorf("%s was about to be dialled", address)
		return errStopped
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

var errStopped = errors.New("stopped before connect")

// The name has a public address when it is saved and looked at, and a private one when it is
// used: what counts is the address that is dialled.
func TestWH03_RebindingGainsNothing(t *testing.T) {
	t.Parallel()
	dns := newNameServer(t, "203.0.113.5", "10.0.0.1")
	d := strictDeliverer(t, dns, "203.0.113.5:80")
	if err := deliver.CheckURL("http://rebind.test/", false); err != nil {
		t.Fatal(err)
	}
	want(t, send(d, "http://rebind.test/"), deliver.Retry, deliver.CauseConnection, errStopped.Error())
	want(t, send(d, "http://rebind.test/"), deliver.Retry, deliver.CauseBlocked, "10.0.0.1", "private networks")
}

// The receiver's log, with the clock moved on ten minutes between attempts: the stock
// verifier, with its tolerance of five minutes, accepts each one when it arrives.
func TestWH04_EachAttemptIsSignedAnew(t *testing.T) {
	t.Parallel()
	replies := []int{500, 500, 200}
	rec := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, n int) { w.WriteHeader(replies[n-1]) })
	bubbleStart := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // where synctest's clock starts
	now := bubbleStart
	d := newDeliverer(t, func(c *deliver.Config) { c.Now = func() time.Time { return now } })
	body := "{\"é\": \"\\u0000\",  \"n\": 1.0}\n"
	for attempt := range replies {
		now = bubbleStart.Add(time.Duration(attempt) * 10 * time.Minute)
		d.Deliver(context.Background(), deliver.Delivery{ID: "job_7", Attempt: attempt + 1, URL: rec.URL, Body: []byte(body)})
	}
	calls := rec.seen()
	if len(calls) != 3 {
		t.Fatalf("receiver saw %d calls, want 3", len(calls))
	}
	synctest.Test(t, func(t *testing.T) {
		verifier, err := standardwebhooks.NewWebhook(string(secret))
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range calls {
			if err := verifier.Verify([]byte(c.Body), c.Header); err != nil {
				t.Errorf("attempt %d: %v", i+1, err)
			}
			if c.Header.Get("Webhook-Id") != "job_7" || c.Body != body {
				t.Errorf("attempt %d: id %q, body %q", i+1, c.Header.Get("Webhook-Id"), c.Body)
			}
			time.Sleep(10 * time.Minute)
			if err := verifier.Verify([]byte(c.Body), c.Header); !errors.Is(err, standardwebhooks.ErrMessageTooOld) {
				t.Errorf("attempt %d replayed ten minutes later: %v", i+1, err)
			}
		}
	})
}

// While secrets rotate a receiver may hold either; one that holds neither is not fooled.
func TestWH04_RotationSendsBothSignatures(t *testing.T) {
	t.Parallel()
	const older, other = deliver.Secret("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), deliver.Secret("whsec_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB")
	rec := newReceiver(t, status(204))
	d := newDeliverer(t, func(c *deliver.Config) { c.Secrets = []deliver.Secret{secret, older} })
	want(t, send(d, rec.URL), deliver.Delivered, deliver.NoCause)
	c := rec.seen()[0]
	for s, valid := range map[deliver.Secret]bool{secret: true, older: true, other: false} {
		verifier, err := standardwebhooks.NewWebhook(string(s))
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify([]byte(c.Body), c.Header); (err == nil) != valid {
			t.Errorf("valid is %v, want %v", err == nil, valid)
		}
	}
	if n := len(strings.Fields(c.Header.Get("Webhook-Signature"))); n != 2 {
		t.Errorf("%d signatures, want 2", n)
	}
}

// A receiver that worked, and answered too late twice, can tell that it is one job.
func TestWH05_OneIdOverAttempts(t *testing.T) {
	t.Parallel()
	rec := newReceiver(t, func(w http.ResponseWriter, r *http.Request, n int) {
		if n < 3 {
			<-r.Context().Done() // longer than any patience
			return
		}
		w.WriteHeader(200)
	})
	d := newDeliverer(t, func(c *deliver.Config) { c.Timeout = 200 * time.Millisecond })
	for attempt := 1; attempt <= 3; attempt++ {
		job := jobTo(rec.URL)
		job.Attempt = attempt
		got := d.Deliver(context.Background(), job)
		if attempt < 3 {
			want(t, got, deliver.Retry, deliver.CauseTimeout, "200ms", "waiting for the answer")
			continue
		}
		want(t, got, deliver.Delivered, deliver.NoCause)
	}
	for i, c := range rec.seen() {
		if c.Header.Get("Webhook-Id") != "job_1" || c.Body != `{"points": 7}` || c.Header.Get(deliver.HeaderAttempt) != string(rune('1'+i)) {
			t.Errorf("call %d: %+v", i+1, c)
		}
	}
	if n := len(rec.seen()); n != 3 {
		t.Errorf("receiver saw %d calls, want 3", n)
	}
}

func TestWH07_RetryAfterAndGone(t *testing.T) {
	t.Parallel()
	var header atomic.Value
	code := atomic.Int64{}
	rec := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		if h := header.Load().(string); h != "" {
			w.Header().Set("Retry-After", h)
		}
		w.WriteHeader(int(code.Load()))
	})
	d := newDeliverer(t, func(c *deliver.Config) { c.DefaultPause, c.MaxPause = 7*time.Second, time.Hour })
	for value, wait := range map[string]time.Duration{
		"120":                           2 * time.Minute,
		"Fri, 31 Dec 2100 23:59:59 GMT": time.Hour,
		"Fri, 31 Dec 1999 23:59:59 GMT": 0,
		"0":                             0,
		"-5":                            7 * time.Second,
		"1.5":                           2 * time.Second,
		"999999999":                     time.Hour,
		"99999999999999999999999":       time.Hour,
		"soon":                          7 * time.Second,
		"":                              7 * time.Second,
	} {
		for _, status := range []int{429, 503} {
			header.Store(value)
			code.Store(int64(status))
			got := send(d, rec.URL)
			want(t, got, deliver.Pause, deliver.CauseStatus, "paused for")
			if got.RetryAfter != wait || got.Outcome.CostsAttempt() || got.Status != status {
				t.Errorf("%d with Retry-After %q: %+v, want %v", status, value, got, wait)
			}
		}
	}
	header.Store("5")
	code.Store(410)
	got := send(d, rec.URL)
	want(t, got, deliver.Disabled, deliver.CauseStatus, "410 Gone", "no more deliveries")
	if got.Outcome.CostsAttempt() || got.RetryAfter != 0 {
		t.Errorf("%+v", got)
	}
}
