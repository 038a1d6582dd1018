package lifecycle

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// running runs group beside the test and yields what Run returns.
func running(group *Group) <-chan error {
	done := make(chan error, 1)
	go func() { done <- group.Run() }()
	return done
}

func wantEnd(t *testing.T, done <-chan error, want error) {
	t.Helper()
	select {
	case err := <-done:
		if !errors.Is(err, want) {
			t.Errorf("Run returned %v, want %v", err, want)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("Run did not return")
	}
}

// held is an HTTP server whose one request waits inside its handler.
type held struct {
	address string
	inside  chan struct{} // closed when the request is in its handler
	release chan struct{} // close it to let the request end
	answer  chan string   // the body, or the error
}

func hold(t *testing.T, group *Group, name string) *held {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &held{listener.Addr().String(), make(chan struct{}), make(chan struct{}), make(chan string, 1)}
	group.Serve(name, &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(h.inside)
		<-h.release
		_, _ = io.WriteString(w, "done")
	})}, listener)
	return h
}

// ask sends the request and returns when it is in its handler.
func (h *held) ask(t *testing.T) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	go func() {
		answer, err := client.Get("http://" + h.address) //nolint:noctx // ends with the server
		if err != nil {
			h.answer <- err.Error()
			return
		}
		body, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		h.answer <- string(body)
	}()
	select {
	case <-h.inside:
	case said := <-h.answer:
		t.Fatalf("the request ended at once: %s", said)
	}
}

// wantClosed returns when nobody takes connections any more.
func (h *held) wantClosed(t *testing.T) {
	t.Helper()
	deadline := time.After(5 * time.Second)
	tick := time.NewTicker(time.Millisecond) // nothing tells of a listener that closes
	defer tick.Stop()
	for {
		conn, err := net.Dial("tcp", h.address)
		if err != nil {
			return
		}
		_ = conn.Close()
		select {
		case <-deadline:
			t.Fatal("a server that was stopped still takes connections")
		case <-tick.C:
		}
	}
}

func TestRun_TheFirstToStopStopsAll(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	group := New(t.Context(), quiet())
	stopped := make(chan struct{})
	group.Worker("steady", func(ctx context.Context) error {
		<-ctx.Done()
		close(stopped)
		return nil
	})
	group.Worker("broken", func(context.Context) error { return broken })
	wantEnd(t, running(group), broken)
	<-stopped
}

func TestRun_EndsWithItsContextAndNotBefore(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	group := New(ctx, quiet())
	began := make(chan struct{})
	group.Worker("steady", func(ctx context.Context) error {
		close(began)
		<-ctx.Done()
		return nil
	})
	done := running(group)
	<-began
	select {
	case err := <-done:
		t.Fatalf("Run returned %v before it was told to", err)
	default:
	}
	cancel()
	wantEnd(t, done, nil)
}

// A request that hangs on one server keeps no other open: both close at once, and Run
// waits for both.
func TestServe_DrainsEveryServerAtTheSameTime(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	group := New(ctx, quiet())
	servers := []*held{hold(t, group, "first"), hold(t, group, "second")}
	done := running(group)
	for _, h := range servers {
		h.ask(t)
	}
	cancel()
	for _, h := range servers {
		h.wantClosed(t)
	}
	for _, h := range servers {
		select {
		case err := <-done:
			t.Fatalf("Run returned %v with a request in flight", err)
		default:
		}
		close(h.release)
		if got := <-h.answer; got != "done" {
			t.Errorf("a request in flight was answered %q", got)
		}
	}
	wantEnd(t, done, nil)
}

func TestServe_CutsOffWhatOutlastsTheDrain(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	ctx, cancel := context.WithCancel(t.Context())
	group := New(ctx, slog.New(slog.NewTextHandler(&out, nil)))
	group.drain = time.Millisecond
	h := hold(t, group, "slow")
	done := running(group)
	h.ask(t)
	cancel()
	wantEnd(t, done, nil)
	if got := <-h.answer; got == "done" || !strings.Contains(out.String(), "requests were cut off") {
		t.Errorf("the request got %q, log is %q", got, out.String())
	}
	close(h.release)
}

func TestServe_ListenerThatFailsStopsAll(t *testing.T) {
	t.Parallel()
	group := New(t.Context(), quiet())
	h := hold(t, group, "healthy")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	group.Serve("broken", &http.Server{ReadHeaderTimeout: time.Second}, listener)
	wantEnd(t, running(group), net.ErrClosed)
	h.wantClosed(t)
}

func TestServeOps(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	group := New(ctx, quiet())
	server := func() *http.Server { return &http.Server{ReadHeaderTimeout: time.Second} }
	at, err := group.ServeOps(server(), "127.0.0.1:0")
	if err != nil || strings.HasSuffix(at, ":0") {
		t.Fatalf("it listens on %q, %v", at, err)
	}
	if at, err := group.ServeOps(server(), ""); at != "" || err != nil {
		t.Errorf("without an address: %q, %v", at, err)
	}
	if _, err := group.ServeOps(server(), at); err == nil || !strings.Contains(err.Error(), "--ops-listen") {
		t.Errorf("an address that is taken: %v", err)
	}
	done := running(group)
	cancel()
	wantEnd(t, done, nil)
}

// A signal between the start of the program and Run must neither end it nor be lost.
func TestOnHangup_ActsOnEverySignalFromItsCallOn(t *testing.T) { //nolint:paralleltest // the signal reaches the whole process
	if runtime.GOOS == "windows" {
		t.Skip("needs a system with SIGHUP")
	}
	ctx, cancel := context.WithCancel(t.Context())
	group := New(ctx, quiet())
	acted := make(chan struct{})
	group.OnHangup(func() { acted <- struct{}{} })
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	var done <-chan error
	for round := range 3 {
		if err := self.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			done = running(group)
		}
		select {
		case <-acted:
		case <-time.After(10 * time.Second):
			t.Fatalf("signal %d did nothing", round)
		}
	}
	cancel()
	wantEnd(t, done, nil)
}
