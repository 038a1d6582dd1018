package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// FA-08: our cookie is added to the shop's, and none of the shop's is lost.
func TestFA08_EveryCookieOfTheShopArrives(t *testing.T) {
	t.Parallel()
	s := newSite(t, "    session: 3s\n")
	s.shop.does(func(w http.ResponseWriter, _ *http.Request) {
		for i := range 3 {
			http.SetCookie(w, &http.Cookie{Name: fmt.Sprint("shop", i), Value: "x"})
		}
	})
	token := s.passOnce("visitor")
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); <-tick.C {
		a := s.want("active for longer than the pass", s.send(nil, "GET", "shop.test", "/sale", "", with(token)...), 200)
		switch n := len(a.Header.Values("Set-Cookie")); n {
		case 3:
		case 4:
			return
		default:
			t.Fatalf("%d cookies arrived: %v", n, a.Header.Values("Set-Cookie"))
		}
	}
	t.Error("the pass was never renewed")
}

// The origin ends a session by a header, which nobody else sees.
func TestProxy_TheOriginReleases(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	token := s.passOnce("visitor")
	s.shop.does(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sale/thanks" {
			w.Header().Set("Anteroom-Release", "1")
		}
		w.Header().Set("Anteroom-Anything", "x")
	})
	s.want("inside", s.send(nil, "GET", "shop.test", "/sale", "", with(token, navigation...)...), 200)
	a := s.want("the last page", s.send(nil, "GET", "shop.test", "/sale/thanks", "", with(token, navigation...)...), 200)
	if a.Header.Get("Anteroom-Release") != "" || a.Header.Get("Anteroom-Anything") != "" {
		t.Errorf("the visitor sees %v", a.Header)
	}
	if status, err := s.Line.Status(t.Context(), s.room.Queue()); err != nil || status.Active != 0 {
		t.Errorf("active has %d ids after the release, %v", status.Active, err)
	}
	if a := s.send(nil, "GET", "shop.test", "/sale", "", with(token, navigation...)...); !strings.Contains(a.text, `id="queue"`) {
		t.Errorf("after the release the shop answers %d", a.StatusCode)
	}
}

func TestProxy_SaysThatTheOriginIsDown(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	token := s.passOnce("visitor")
	s.shop.Close()
	a := s.want("a page", s.send(nil, "GET", "shop.test", "/sale", "", with(token, navigation...)...), 502)
	if !strings.Contains(a.text, "does not answer") || a.Header.Get("Retry-After") == "" {
		t.Errorf("the page says %.300s", a.text)
	}
	a = s.want("a call", s.send(nil, "GET", "shop.test", "/sale", "", with(token)...), 502)
	if a.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("a call gets %s", a.Header.Get("Content-Type"))
	}
	s.want("the line", s.send(nil, "POST", "shop.test", "/v1/rooms/sale/ticket", ""), 201)
}

// Fifty megabytes up, and every byte arrives.
func TestProxy_LargeBodiesPass(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	const size = 50 << 20
	body := strings.Repeat("0123456789abcdef", size/16)
	s.want("the upload", s.send(nil, "POST", "shop.test", "/sale/upload", body, with(s.passOnce("visitor"))...), 200)
	if last, _ := s.shop.last(); len(last.body) != size || string(last.body) != body {
		t.Errorf("%d of %d bytes arrived", len(last.body), size)
	}
}

// Events reach the browser one by one.
func TestProxy_StreamsEvents(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	next := make(chan struct{})
	s.shop.does(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			_, _ = fmt.Fprintf(w, "data: %d\n\n", i)
			_ = http.NewResponseController(w).Flush()
			<-next
		}
	})
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/sale/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "shop.test"
	r.Header.Set("Cookie", with(s.passOnce("visitor"))[1])
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewScanner(res.Body)
	for i := range 3 {
		for lines.Scan() && lines.Text() == "" {
			continue
		}
		if want := fmt.Sprint("data: ", i); lines.Text() != want {
			t.Errorf("event %d is %q", i, lines.Text())
		}
		next <- struct{}{}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// A WebSocket's upgrade goes through, both ways.
func TestProxy_UpgradesConnections(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	s.shop.does(func(w http.ResponseWriter, _ *http.Request) {
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = c.Close() }()
		_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_ = rw.Flush()
		line, _ := rw.ReadString('\n')
		_, _ = rw.WriteString("echo " + line)
		_ = rw.Flush()
	})
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = fmt.Fprintf(c, "GET /sale/ws HTTP/1.1\r\nHost: shop.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nCookie: %s\r\n\r\n", with(s.passOnce("visitor"))[1])
	in := bufio.NewReader(c)
	res, err := http.ReadResponse(in, nil)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the upgrade is answered %v, %v", res, err)
	}
	_, _ = io.WriteString(c, "hello\n")
	if line, err := in.ReadString('\n'); err != nil || line != "echo hello\n" {
		t.Errorf("the shop echoes %q, %v", line, err)
	}
}

// Hop-by-hop headers stay, and the chain of addresses is believed from trusted proxies only.
func TestProxy_ForwardedHeaders(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	s.send(nil, "GET", "shop.test", "/open?a;b&c=%zz", "", "X-Forwarded-For", "192.0.2.7", "X-Forwarded-Proto", "https", "Connection", "X-Hop", "X-Hop", "1")
	last, _ := s.shop.last()
	if last.uri != "/open?a;b&c=%zz" || last.host != "shop.test" {
		t.Errorf("the shop saw %s %s", last.host, last.uri)
	}
	if got := last.header.Get("X-Forwarded-For"); got != "192.0.2.7, 127.0.0.1" {
		t.Errorf("X-Forwarded-For is %q", got)
	}
	if last.header.Get("X-Forwarded-Proto") != "https" || last.header.Get("X-Hop") != "" {
		t.Errorf("the shop saw %v", last.header)
	}
}

// HTTP/2 by upgrade would go on past the gate; it is not tunnelled, and no header asks the
// shop for another page than the one that was judged.
func TestProxy_TunnelsNothingButWebSockets(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	s.want("an upgrade to h2c", s.send(nil, "GET", "shop.test", "/favicon.ico", "", "Connection", "Upgrade, HTTP2-Settings", "Upgrade", "h2c",
		"HTTP2-Settings", "AAMAAABkAAQCAAAAAAIAAAAA", "X-Original-URL", "/sale/buy", "X-Rewrite-URL", "/sale/buy", "X-HTTP-Method-Override", "POST"), 200)
	last, _ := s.shop.last()
	for _, name := range []string{"Upgrade", "Connection", "Http2-Settings", "X-Original-Url", "X-Rewrite-Url", "X-Http-Method-Override"} {
		if last.header.Get(name) != "" {
			t.Errorf("the shop saw %s: %s", name, last.header.Get(name))
		}
	}
}
