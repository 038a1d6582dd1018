//go:build unix

package deploy_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/proxytest"
	"github.com/anteroom/anteroom/pass"
)

// life is how long a pass of these tests lasts.
const life = 4 * time.Second

// server starts the real program before the proxy's visitors and returns its address. It
// ends with the test.
func server(t *testing.T, program, public string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "rooms.yaml")
	rooms := "rooms:\n  - name: sale\n    capacity: 5\n    rate: 100/s\n    session: " + life.String() + "\n    match: [{host: \"" + public + "\", path: /sale}]\n"
	if err := os.WriteFile(file, []byte(rooms), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	at := proxytest.FreeAddress(t)
	cmd := exec.Command(program, "--listen", at, "--ops-listen=", "--rooms", file, "--public-url", "http://"+public, "--data-dir", dir) //nolint:noctx // ended below
	cmd.Stdout, cmd.Stderr = said, said
	for _, v := range os.Environ() { // what the developer's shell sets for a server of theirs is not for ours
		if !strings.HasPrefix(v, "ANTEROOM_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		_ = said.Close()
		if text, err := os.ReadFile(said.Name()); t.Failed() {
			t.Logf("the server said %v:\n%s", err, text)
		}
	})
	within(t, "the server is ready", func() bool {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at+"/readyz", nil)
		if err != nil {
			t.Fatal(err)
		}
		transport := &http.Transport{DisableKeepAlives: true}
		res, err := transport.RoundTrip(r)
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return at
}

// within polls what nothing announces.
func within(t *testing.T, what string, reached func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); !reached(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}

// browser keeps cookies and follows nothing by itself.
type browser struct {
	t    *testing.T
	http http.Client
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &browser{t, http.Client{Jar: jar, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

func (b *browser) do(method, address, body string, headers ...string) (*http.Response, string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := b.http.Do(r)
	if err != nil {
		b.t.Fatalf("%s %s: %v", method, address, err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return res, string(text)
}

// enter goes from a page of the shop through the line and returns where the turn leads.
func (b *browser) enter(site, uri string) string {
	b.t.Helper()
	res, text := b.do("GET", site+uri, "", navigation...)
	to, err := url.Parse(res.Header.Get("Location"))
	if res.StatusCode != http.StatusFound || err != nil {
		b.t.Fatalf("without a pass: %d %v %.200s", res.StatusCode, err, text)
	}
	if res, text = b.do("GET", to.String(), "", navigation...); res.StatusCode != http.StatusOK {
		b.t.Fatalf("the queue page: %d %.200s", res.StatusCode, text)
	}
	body, err := json.Marshal(map[string]string{"target": to.Query().Get("target")})
	if err != nil {
		b.t.Fatal(err)
	}
	ticket := site + "/v1/rooms/sale/ticket"
	if res, text = b.do("POST", ticket, string(body), "Content-Type", "application/json", "Origin", site); res.StatusCode != http.StatusCreated {
		b.t.Fatalf("joining: %d %.200s", res.StatusCode, text)
	}
	var turn struct{ Redirect string }
	within(b.t, "the turn", func() bool {
		res, text := b.do("POST", ticket+"/claim", "", "Origin", site)
		return res.StatusCode == http.StatusOK && json.Unmarshal([]byte(text), &turn) == nil
	})
	return turn.Redirect
}

// WR-08, WR-16, FA-08: a whole visit with the real server. The wanted address comes back
// byte for byte, a renewed pass comes beside the shop's cookies and never in an answer for
// caches, and who is active for three times the life of a pass stays in.
func TestProxies_AWholeVisit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	build := sync.OnceValues(func() ([]byte, error) { // by the first test whose proxy is there
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		return exec.CommandContext(ctx, "go", "build", "-o", dir, "../cmd/server").CombinedOutput()
	})
	each(t, func(t *testing.T, k proxytest.Kind) {
		k.Need(t)
		if out, err := build(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		s := &stand{t: t, at: proxytest.FreeAddress(t), shop: newShop(t)}
		anteroom := server(t, filepath.Join(dir, "server"), s.at)
		k.Start(t, ".", proxytest.Addresses{Listen: s.at, Anteroom: anteroom, Shop: s.shop.Listener.Addr().String()})
		visit(t, s)
	})
}

func visit(t *testing.T, s *stand) {
	t.Helper()
	site, b := "http://"+s.at, newBrowser(t)
	if to := b.enter(site, everyByte); to != site+everyByte {
		t.Fatalf("the turn leads to %q", to)
	}
	began := time.Now()
	res, text := b.do("GET", site+everyByte, "", navigation...)
	s.want("with the turn", 200, res, text)
	if last, _, hits := s.shop.seen(); hits != 1 || last.RequestURI != everyByte {
		t.Fatalf("after %d requests the shop saw %s", hits, last.RequestURI)
	}
	first, err := url.Parse(site)
	if err != nil {
		t.Fatal(err)
	}
	shown := pass.CookieName("sale")
	old := ""
	for _, c := range b.http.Jar.Cookies(first) {
		if c.Name == shown {
			old = c.Value
		}
	}
	renewed := 0
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for time.Since(began) < 3*life {
		res, text := b.do("GET", site+"/sale", "", navigation...)
		if res.StatusCode != http.StatusOK {
			t.Fatalf("after %s an active visitor is sent to %d %.100s", time.Since(began), res.StatusCode, text)
		}
		if ours, all := cookies(res, shown); ours > 0 {
			renewed++
			if ours != 1 || all != 4 {
				t.Errorf("a renewal comes as %d of %d cookies, want 1 of 4", ours, all)
			}
			// The pass that is due for renewal, and an answer that caches keep.
			res, text = do(t, s.at, "GET", "/sale?public", nil, withPass(old, navigation...)...)
			s.want("a public answer", 200, res, text)
			if ours, all := cookies(res, shown); ours != 0 || all != 3 {
				t.Errorf("a public answer has %d cookies, %d of them ours", all, ours)
			}
		}
		<-tick.C
	}
	if renewed == 0 {
		t.Error("no renewed pass reached the browser")
	}
}

// cookies counts ours, of a name, and all.
func cookies(res *http.Response, name string) (ours, all int) {
	for _, c := range res.Cookies() {
		all++
		if c.Name == name {
			ours++
		}
	}
	return ours, all
}
