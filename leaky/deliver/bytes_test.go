package deliver_test

import (
	"context"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anteroom/anteroom/leaky/deliver"
)

// What goes over the wire, byte for byte.
func TestDeliver_Request(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	address := rawServer(t, func(conn net.Conn) {
		got <- readRequest(conn)
		_, _ = conn.Write([]byte("HTTP/1.1 204 No Content\r\n\r\n"))
	})
	d := newDeliverer(t, func(c *deliver.Config) {
		c.Headers = map[string]string{"authorization": "Bearer x"}
		c.Now = func() time.Time { return time.Unix(1801483200, 999) }
	})
	job := deliver.Delivery{ID: "job_1", Attempt: 12, URL: "http://" + address + "/a%2Fb/../c?q=%20&r#part", Body: []byte("\x00\xff\r\n\r\nx"), ContentType: "text/plain; charset=utf-8"}
	want(t, d.Deliver(context.Background(), job), deliver.Delivered, deliver.NoCause)
	signature := regexp.MustCompile(`v1,[A-Za-z0-9+/]{43}=`)
	expected := strings.Join([]string{
		"POST /a%2Fb/../c?q=%20&r HTTP/1.1", "Host: " + address, "User-Agent: Anteroom", "Content-Length: 7",
		"Anteroom-Attempt: 12", "Authorization: Bearer x", "Content-Type: text/plain; charset=utf-8",
		"Webhook-Id: job_1", "Webhook-Signature: SIGNED", "Webhook-Timestamp: 1801483200", "", "\x00\xff\r\n\r\nx",
	}, "\r\n")
	if request := signature.ReplaceAllString(<-got, "SIGNED"); request != expected {
		t.Errorf("request is\n%q, want\n%q", request, expected)
	}
}

// Nothing that a caller gives can begin a header of its own, and nothing is sent.
func TestDeliver_RefusesWhatCanNeverGo(t *testing.T) {
	t.Parallel()
	rec := newReceiver(t, status(200))
	d := newDeliverer(t, nil)
	for name, change := range map[string]func(*deliver.Delivery){
		"id with a line break":           func(j *deliver.Delivery) { j.ID = "a\r\nX-Evil: 1" },
		"id with a dot":                  func(j *deliver.Delivery) { j.ID = "a.1801483200.b" },
		"id with a space":                func(j *deliver.Delivery) { j.ID = "a b" },
		"no id":                          func(j *deliver.Delivery) { j.ID = "" },
		"long id":                        func(j *deliver.Delivery) { j.ID = strings.Repeat("a", 129) },
		"attempt 0":                      func(j *deliver.Delivery) { j.Attempt = 0 },
		"content type with a line break": func(j *deliver.Delivery) { j.ContentType = "text/plain\r\nX-Evil: 1" },
		"content type in a quoted break": func(j *deliver.Delivery) { j.ContentType = "text/plain; a=\"\r\n b\"" },
		"content type without sense":     func(j *deliver.Delivery) { j.ContentType = "/" },
		"body too large":                 func(j *deliver.Delivery) { j.Body = make([]byte, deliver.MaxBody+1) },
		"path with a line break":         func(j *deliver.Delivery) { j.URL += "/\r\nX-Evil: 1" },
		"query with a space":             func(j *deliver.Delivery) { j.URL += "/?a HTTP/1.1" },
		"user in the URL":                func(j *deliver.Delivery) { j.URL = strings.Replace(j.URL, "//", "//a:b@", 1) },
	} {
		job := jobTo(rec.URL)
		change(&job)
		got := d.Deliver(context.Background(), job)
		if got.Outcome != deliver.Dead || got.Cause != deliver.CauseInvalid || len(got.Reason) > 512 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if n := len(rec.seen()); n != 0 {
		t.Errorf("receiver saw %d calls, want none", n)
	}
}

// Answers as they come from broken and from hostile servers. talk gets the connection after
// the request was read.
func TestDeliver_Answers(t *testing.T) {
	t.Parallel()
	says := func(text string) func(net.Conn) { return func(c net.Conn) { _, _ = c.Write([]byte(text)) } }
	repeats := func(first, again string, pause time.Duration) func(net.Conn) {
		return func(c net.Conn) {
			for _, err := c.Write([]byte(first)); err == nil; _, err = c.Write([]byte(again)) {
				time.Sleep(pause)
			}
		}
	}
	for _, test := range []struct {
		name    string
		talk    func(net.Conn)
		outcome deliver.Outcome
		cause   deliver.Cause
		words   string // in the reason
		snippet string // the beginning
	}{
		{"2xx unknown", says("HTTP/1.1 299 Odd\r\n\r\n"), deliver.Delivered, "", "", ""},
		{"early hints first", says("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\nok"), deliver.Delivered, "", "", "ok"},
		{"200 that is cut", says("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello"), deliver.Delivered, "", "", "hello"},
		{"200 that dribbles", repeats("HTTP/1.1 200 OK\r\n\r\nhello", ".", 20*time.Millisecond), deliver.Delivered, "", "", "hello."},
		{"200 that stalls", func(c net.Conn) { says("HTTP/1.1 200 OK\r\n\r\nhello")(c); untilClosed(c) }, deliver.Delivered, "", "", "hello"},
		{"500 without end", repeats("HTTP/1.1 500 Oh\r\n\r\n", strings.Repeat("a", 64<<10), 0), deliver.Retry, deliver.CauseStatus, "500 Internal", "aaaa"},
		{"status unknown", says("HTTP/1.1 799 Odd\r\n\r\n"), deliver.Retry, deliver.CauseStatus, "answered 799", ""},
		{"switching protocols", says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"), deliver.Retry, deliver.CauseStatus, "101", ""},
		{"packed", says("HTTP/1.1 400 No\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\xff"), deliver.Retry, deliver.CauseStatus, "400", "\x1f?\x08?"},
		{"404", says("HTTP/1.1 404 Not Found\r\n\r\nno"), deliver.Retry, deliver.CauseStatus, "404 Not Found", "no"},
		{"no answer", says(""), deliver.Retry, deliver.CauseConnection, "waiting for the answer", ""},
		{"no HTTP", says("SSH-2.0-OpenSSH_9.6\r\n"), deliver.Retry, deliver.CauseProtocol, "malformed", ""},
		{"header cut", says("HTTP/1.1 200 OK\r\nA: b"), deliver.Retry, deliver.CauseConnection, "EOF", ""},
		{"header without end", repeats("HTTP/1.1 200 OK\r\n", "A: "+strings.Repeat("a", 1000)+"\r\n", 0), deliver.Retry, deliver.CauseProtocol, "exceeded", ""},
		{"header that dribbles", repeats("HTTP/1.1 200 OK\r\n", "A: b\r\n", 20*time.Millisecond), deliver.Retry, deliver.CauseTimeout, "3s", ""},
		{"silence", untilClosed, deliver.Retry, deliver.CauseTimeout, "waiting for the answer", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			address := rawServer(t, func(conn net.Conn) {
				readRequest(conn)
				test.talk(conn)
			})
			d := newDeliverer(t, func(c *deliver.Config) { c.Timeout = 3 * time.Second })
			began := time.Now()
			got := send(d, "http://"+address)
			want(t, got, test.outcome, test.cause, test.words)
			if !strings.HasPrefix(got.Snippet, test.snippet) || len(got.Snippet) > deliver.MaxSnippet {
				t.Errorf("snippet of %d bytes is %.20q, want %q", len(got.Snippet), got.Snippet, test.snippet)
			}
			if took := time.Since(began); took > 6*time.Second || (test.outcome == deliver.Delivered && took > 2500*time.Millisecond) {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestDeliver_NobodyListens(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	want(t, send(newDeliverer(t, nil), "http://"+listener.Addr().String()), deliver.Retry, deliver.CauseConnection, "refused", "connecting")
}

// A place on a connection is worth keeping when the answer was read to its end.
func TestDeliver_ReusesConnections(t *testing.T) {
	t.Parallel()
	size := atomic.Int64{}
	rec := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		_, _ = w.Write(make([]byte, size.Load()))
	})
	d := newDeliverer(t, nil)
	remotes := func(bytes int64) int {
		size.Store(bytes)
		before := len(rec.seen())
		for range 5 {
			want(t, send(d, rec.URL), deliver.Delivered, deliver.NoCause)
		}
		seen := map[string]bool{}
		for _, c := range rec.seen()[before:] {
			seen[c.Remote] = true
		}
		return len(seen)
	}
	if n := remotes(deliver.MaxSnippet); n != 1 {
		t.Errorf("short answers took %d connections, want 1", n)
	}
	if n := remotes(10 << 20); n < 4 {
		t.Errorf("long answers took %d connections: they were read to the end", n)
	}
}

func TestDeliver_LargestBodyArrivesUnchanged(t *testing.T) {
	t.Parallel()
	rec := newReceiver(t, status(200))
	d := newDeliverer(t, nil)
	body := []byte(strings.Repeat("0123456789abcdef", deliver.MaxBody/16))
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			job := jobTo(rec.URL)
			job.Body = body
			want(t, d.Deliver(context.Background(), job), deliver.Delivered, deliver.NoCause)
		})
	}
	all.Wait()
	for _, c := range rec.seen() {
		if c.Body != string(body) {
			t.Fatalf("body arrived as %d bytes, or changed", len(c.Body))
		}
	}
}

func TestDeliver_CallerGivesUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	rec := newReceiver(t, func(_ http.ResponseWriter, r *http.Request, _ int) {
		cancel()
		<-r.Context().Done()
	})
	d := newDeliverer(t, nil)
	got := d.Deliver(ctx, jobTo(rec.URL))
	want(t, got, deliver.Cancelled, deliver.CauseCancelled, "waiting for the answer")
	if got.Outcome.CostsAttempt() {
		t.Error("costs an attempt")
	}
}

// The name is not this machine's, so that a proxy of the environment would be used for it.
func TestDeliver_IgnoresProxiesOfTheEnvironment(t *testing.T) {
	proxy := newReceiver(t, status(200))
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	rec := newReceiver(t, status(200))
	d, err := deliver.NewHooked(deliver.Config{Secrets: []deliver.Secret{secret}, AllowPrivate: true}, newNameServer(t, "127.0.0.1"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	_, port, _ := net.SplitHostPort(rec.Listener.Addr().String())
	want(t, send(d, "http://far.test:"+port), deliver.Delivered, deliver.NoCause)
	if n := len(proxy.seen()); n != 0 {
		t.Errorf("the proxy saw %d calls", n)
	}
}

// A connection that is cut under a reused request may have carried it: nothing below sends
// the job again by itself, since each attempt is counted and paced.
func TestDeliver_NeverSendsTwiceByItself(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	address := rawServer(t, func(conn net.Conn) {
		readRequest(conn)
		requests.Add(1)
		_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
		readRequest(conn)
		requests.Add(1)
	})
	d := newDeliverer(t, nil)
	want(t, send(d, "http://"+address), deliver.Delivered, deliver.NoCause)
	want(t, send(d, "http://"+address), deliver.Retry, deliver.CauseConnection, "waiting for the answer")
	if n := requests.Load(); n != 2 {
		t.Errorf("%d requests arrived, want 2", n)
	}
}
