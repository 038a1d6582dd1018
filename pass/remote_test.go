package pass_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anteroom/anteroom/pass"
)

// clock is a time that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }

func (c *clock) Add(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }

// keyServer serves what it is told to and signals each fetch before it answers.
type keyServer struct {
	*httptest.Server
	fetches atomic.Int32
	answer  atomic.Pointer[http.HandlerFunc]
}

func newKeyServer(t *testing.T) *keyServer {
	t.Helper()
	s := &keyServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.fetches.Add(1)
		(*s.answer.Load())(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *keyServer) do(h http.HandlerFunc) { s.answer.Store(&h) }

func (s *keyServer) serve(body []byte, header ...string) {
	s.do(func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Add(header[i], header[i+1])
		}
		_, _ = w.Write(body)
	})
}

func (s *keyServer) keys(t *testing.T, c *clock) *pass.RemoteKeys {
	t.Helper()
	keys, err := pass.NewRemoteKeys(pass.RemoteConfig{URL: s.URL, Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func (s *keyServer) wantFetches(t *testing.T, want int32) {
	t.Helper()
	if got := s.fetches.Load(); got != want {
		t.Fatalf("the key server saw %d fetches, want %d", got, want)
	}
}

// kidOf is the id of the one key of s.
func kidOf(s *pass.Signer) string {
	for kid := range s.Keys() {
		return kid
	}
	return ""
}

func wantKey(t *testing.T, keys pass.Keys, s *pass.Signer, want bool) {
	t.Helper()
	key, err := keys.Key(context.Background(), kidOf(s))
	if want && (err != nil || !key.Equal(s.Keys()[kidOf(s)])) {
		t.Fatalf("Key says %v, want the key", err)
	}
	if !want && !errors.Is(err, pass.ErrUnknownKey) {
		t.Fatalf("Key says %v, want ErrUnknownKey", err)
	}
}

func TestRemoteKeys_LooksForARotatedKeyButSeldom(t *testing.T) {
	t.Parallel()
	server, c := newKeyServer(t), &clock{now: noon}
	first, second := newSigner(t, newKey(t)), newSigner(t, newKey(t))
	server.serve(first.JWKS())
	keys := server.keys(t, c)
	wantKey(t, keys, first, true)
	for range 50 {
		wantKey(t, keys, second, false)
	}
	server.wantFetches(t, 1)

	server.serve(second.JWKS())
	c.Add(9 * time.Second)
	wantKey(t, keys, second, false)
	server.wantFetches(t, 1)
	c.Add(time.Second)
	wantKey(t, keys, second, true)
	wantKey(t, keys, first, false) // withdrawn
	server.wantFetches(t, 2)
}

func TestRemoteKeys_KeepsItsKeysWhenAFetchFails(t *testing.T) {
	t.Parallel()
	s, other := newSigner(t, newKey(t)), newSigner(t, newKey(t))
	for name, answer := range map[string]http.HandlerFunc{
		"500":       func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"HTML":      func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"empty set": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"keys":[]}`)) },
		"cut off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "5000")
			_, _ = w.Write(s.JWKS())
		},
		"too long": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(append(other.JWKS(), strings.Repeat(" ", 64<<10)...))
		},
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				_, _ = w.Write(other.JWKS())
				return
			}
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, c := newKeyServer(t), &clock{now: noon}
			server.serve(s.JWKS())
			keys := server.keys(t, c)
			wantKey(t, keys, s, true)
			server.do(answer)
			c.Add(24 * time.Hour)
			wantKey(t, keys, other, false)
			wantKey(t, keys, s, true)
			server.wantFetches(t, 2)
		})
	}
}

func TestRemoteKeys_HonoursMaxAgeWithinBounds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header []string
		fresh  time.Duration
	}{
		"named":           {[]string{"Cache-Control", "public, max-age=120"}, 2 * time.Minute},
		"quoted":          {[]string{"Cache-Control", `Max-Age="120"`}, 2 * time.Minute},
		"in two headers":  {[]string{"Cache-Control", "public", "Cache-Control", "max-age=120"}, 2 * time.Minute},
		"aged on the way": {[]string{"Cache-Control", "max-age=600", "Age", "400"}, 200 * time.Second},
		"none":            {nil, 5 * time.Minute},
		"no-store":        {[]string{"Cache-Control", "no-store"}, time.Minute},
		"floor":           {[]string{"Cache-Control", "max-age=0"}, time.Minute},
		"ceiling":         {[]string{"Cache-Control", "max-age=31536000"}, time.Hour},
		"beyond numbers":  {[]string{"Cache-Control", "max-age=99999999999999999999999"}, time.Hour},
		"negative":        {[]string{"Cache-Control", "max-age=-1"}, time.Minute},
		"no number":       {[]string{"Cache-Control", "max-age=soon"}, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, clk := newKeyServer(t), &clock{now: noon}
			s := newSigner(t, newKey(t))
			server.serve(s.JWKS(), c.header...)
			keys := server.keys(t, clk)
			wantKey(t, keys, s, true)
			clk.Add(c.fresh - time.Second)
			wantKey(t, keys, s, true)
			server.wantFetches(t, 1)

			fetched := make(chan struct{})
			server.do(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write(s.JWKS())
				close(fetched)
			})
			clk.Add(time.Second)
			wantKey(t, keys, s, true) // from memory, with the fetch behind it
			<-fetched
		})
	}
}

func TestRemoteKeys_OneFetchForAllWhoWait(t *testing.T) {
	t.Parallel()
	server, c := newKeyServer(t), &clock{now: noon}
	s := newSigner(t, newKey(t))
	arrived, release := make(chan struct{}), make(chan struct{})
	server.do(func(w http.ResponseWriter, _ *http.Request) {
		close(arrived) // panics, and so fails the fetch, at a second one
		<-release
		_, _ = w.Write(s.JWKS())
	})
	keys := server.keys(t, c)

	gone, cancel := context.WithCancel(context.Background())
	left := make(chan error)
	go func() {
		_, err := keys.Key(gone, kidOf(s))
		left <- err
	}()
	<-arrived
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) || !errors.Is(err, pass.ErrUnknownKey) {
		t.Errorf("the caller that gave up got %v", err)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			key, err := keys.Key(context.Background(), kidOf(s))
			if err != nil || len(key) != ed25519.PublicKeySize {
				t.Errorf("Key says %v", err)
			}
		})
	}
	close(release)
	wg.Wait()
	server.wantFetches(t, 1)
}

func TestRemoteKeys_FirstFetchIsTriedAgainSoon(t *testing.T) {
	t.Parallel()
	server, c := newKeyServer(t), &clock{now: noon}
	s := newSigner(t, newKey(t))
	server.do(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	var lines bytes.Buffer
	keys, err := pass.NewRemoteKeys(pass.RemoteConfig{
		URL: server.URL, Now: c.Now, Logger: slog.New(slog.NewTextHandler(&lines, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	wantKey(t, keys, s, false)
	wantKey(t, keys, s, false)
	server.wantFetches(t, 1)
	server.serve(s.JWKS())
	c.Add(time.Second)
	wantKey(t, keys, s, true)
	if n := strings.Count(lines.String(), "status 503"); n != 1 {
		t.Errorf("the log names the failure %d times, want 1: %s", n, lines.String())
	}
}

func TestRemoteKeys_HangingServerCostsTheTimeout(t *testing.T) {
	t.Parallel()
	server := newKeyServer(t)
	server.do(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	keys, err := pass.NewRemoteKeys(pass.RemoteConfig{URL: server.URL, Timeout: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keys.Key(context.Background(), "x"); !errors.Is(err, pass.ErrUnknownKey) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Key says %v", err)
	}
}

func TestNewRemoteKeys_RefusesAConfigurationThatCannotWork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]pass.RemoteConfig{
		"no URL":       {},
		"a path":       {URL: "/.well-known/jwks.json"},
		"a file":       {URL: "file:///etc/keys"},
		"empty bounds": {URL: "https://queue.test/", MinFresh: 2 * time.Hour},
	} {
		if _, err := pass.NewRemoteKeys(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
