package deliver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/anteroom/anteroom/leaky/deliver"
)

// Every test ends with no goroutine left, those of connections included.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = deliver.Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")

// newDeliverer makes one that may call this machine, unless change says otherwise.
func newDeliverer(t *testing.T, change func(*deliver.Config)) *deliver.Deliverer {
	t.Helper()
	cfg := deliver.Config{Secrets: []deliver.Secret{secret}, AllowPrivate: true, Timeout: 10 * time.Second}
	if change != nil {
		change(&cfg)
	}
	d, err := deliver.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// jobTo is a first attempt to url.
func jobTo(url string) deliver.Delivery {
	return deliver.Delivery{ID: "job_1", Attempt: 1, URL: url, Body: []byte(`{"points": 7}`)}
}

// send makes the first attempt.
func send(d *deliver.Deliverer, url string) deliver.Result {
	return d.Deliver(context.Background(), jobTo(url))
}

// want checks outcome and cause, and that the reason has each of words.
func want(t *testing.T, got deliver.Result, outcome deliver.Outcome, cause deliver.Cause, words ...string) {
	t.Helper()
	if got.Outcome != outcome || got.Cause != cause {
		t.Errorf("outcome is %s, cause %q, want %s, %q; %+v", got.Outcome, got.Cause, outcome, cause, got)
	}
	for _, word := range words {
		if !strings.Contains(got.Reason, word) {
			t.Errorf("reason lacks %q: %s", word, got.Reason)
		}
	}
	if (got.Reason == "") != (outcome == deliver.Delivered) {
		t.Errorf("outcome %s has the reason %q", outcome, got.Reason)
	}
}

// call is what a receiver saw of one request.
type call struct {
	Path   string
	Header http.Header
	Body   string
	Proto  string
	Remote string
}

// receiver records calls and answers them by reply.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	calls []call
}

// newReceiver starts one. reply gets the number of the call, from 1.
func newReceiver(t *testing.T, reply func(w http.ResponseWriter, r *http.Request, n int)) *receiver {
	t.Helper()
	rec := unstarted(reply)
	rec.Start()
	t.Cleanup(rec.Close)
	return rec
}

// unstarted is for tests that set TLS up first; they start and close it.
func unstarted(reply func(w http.ResponseWriter, r *http.Request, n int)) *receiver {
	rec := &receiver{}
	rec.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		rec.mu.Lock()
		rec.calls = append(rec.calls, call{r.URL.String(), r.Header.Clone(), string(body), r.Proto, r.RemoteAddr})
		n := len(rec.calls)
		rec.mu.Unlock()
		reply(w, r, n)
	}))
	return rec
}

func (rec *receiver) seen() []call {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return append([]call(nil), rec.calls...)
}

// status answers every call with code.
func status(code int) func(http.ResponseWriter, *http.Request, int) {
	return func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(code) }
}

// rawServer hands each connection to talk and closes it after that. It returns an address for
// http:// URLs.
func rawServer(t *testing.T, talk func(conn net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer func() { _ = conn.Close() }()
				_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
				talk(conn)
			})
		}
	})
	return listener.Addr().String()
}

// readRequest is all bytes of one request whose header names a Content-Length.
func readRequest(conn net.Conn) string {
	reader := bufio.NewReader(conn)
	var head strings.Builder
	length := 0
	for {
		line, err := reader.ReadString('\n')
		head.WriteString(line)
		_, _ = fmt.Sscanf(line, "Content-Length: %d", &length)
		if err != nil || line == "\r\n" {
			break
		}
	}
	body := make([]byte, length)
	n, _ := io.ReadFull(reader, body)
	return head.String() + string(body[:n])
}

// untilClosed blocks until the other side closes the connection.
func untilClosed(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }
