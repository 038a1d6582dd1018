package deliver_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom/leaky/deliver"
)

func TestCheckAddr(t *testing.T) {
	t.Parallel()
	const never, onlyPrivate, free = "never", "private", "free"
	for address, class := range map[string]string{
		"203.0.113.5": free, "1.1.1.1": free, "2606:4700::1111": free, "172.32.0.1": free, "100.128.0.1": free,
		"::ffff:1.1.1.1": free, "2002:101:101::1": free, "64:ff9b::101:101": free,
		"127.0.0.1": onlyPrivate, "127.255.255.255": onlyPrivate, "::1": onlyPrivate, "::ffff:127.0.0.1": onlyPrivate,
		"10.0.0.1": onlyPrivate, "172.16.0.1": onlyPrivate, "172.31.255.255": onlyPrivate, "192.168.1.1": onlyPrivate,
		"100.64.0.1": onlyPrivate, "100.127.255.255": onlyPrivate, "198.18.0.1": onlyPrivate, "fd12::1": onlyPrivate, "fc00::1": onlyPrivate,
		"64:ff9b::a00:1": onlyPrivate, "64:ff9b:1::1": onlyPrivate, "2002:a00:1::": onlyPrivate, "2002:7f00:1::1": onlyPrivate,
		"2001:4860::5efe:10.0.0.1": onlyPrivate, "2001:4860::200:5efe:c0a8:101": onlyPrivate,
		"0.0.0.0": never, "0.1.2.3": never, "::": never, "169.254.169.254": never, "169.254.170.2": never, "::ffff:169.254.169.254": never,
		"fd00:ec2::254": never, "fd20:ce::254": never, "100.100.100.200": never, "168.63.129.16": never, "192.0.0.192": never,
		"fe80::1": never, "fe80::1%eth0": never, "fec0::1": never, "224.0.0.1": never, "ff02::1": never, "255.255.255.255": never,
		"240.0.0.1": never, "192.88.99.1": never, "2001:0:1::1": never, "::10.0.0.1": never, "::ffff:0:a00:1": never, "64:ff9b::a9fe:a9fe": never,
		"2002:a9fe:a9fe::1": never, "100::1": never, "4000::1": never, "64:ff9b::": never,
	} {
		a := netip.MustParseAddr(address)
		public, private := deliver.CheckAddr(a, false), deliver.CheckAddr(a, true)
		if (public == nil) != (class == free) || (private == nil) != (class != never) {
			t.Errorf("%s: without private networks %v, with them %v, want class %s", address, public, private, class)
		}
		if public != nil && (!errors.Is(public, deliver.ErrBlocked) || strings.Contains(public.Error(), "allow") != (class == onlyPrivate)) {
			t.Errorf("%s: the reason does not say what would help: %v", address, public)
		}
	}
	if deliver.CheckAddr(netip.Addr{}, true) == nil {
		t.Error("no address at all is allowed")
	}
}

// Whatever wraps an IPv4 address gets no further than the address itself.
func TestCheckAddr_WrappingGainsNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := [4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "ipv4"))
		allow := rapid.Bool().Draw(t, "allow private")
		plain := deliver.CheckAddr(netip.AddrFrom4(b), allow)
		for _, form := range []string{"::ffff:%02x%02x:%02x%02x", "64:ff9b::%02x%02x:%02x%02x", "2002:%02x%02x:%02x%02x::1", "2001:4860::5efe:%02x%02x:%02x%02x"} {
			wrapped := netip.MustParseAddr(fmt.Sprintf(form, b[0], b[1], b[2], b[3]))
			if got := deliver.CheckAddr(wrapped, allow); (got == nil) != (plain == nil) {
				t.Fatalf("%s: %v, but %v alone: %v", wrapped, got, b, plain)
			}
		}
	})
}

func TestCheckURL_Allows(t *testing.T) {
	t.Parallel()
	for url, private := range map[string]bool{
		"https://example.com/hook?x=1": false, "http://example.com:8080/": false, "HTTPS://EXAMPLE.com": false, "https://1.1.1.1/": false,
		"https://[2606:4700::1111]:8443/": false, "https://xn--bcher-kva.example/": false, "https://a_b.example./": false, "https://example.com:/": false,
		"http://localhost:6379/": true, "http://127.0.0.1:9/": true, "http://[fd12::1]/": true,
	} {
		if err := deliver.CheckURL(url, private); err != nil {
			t.Errorf("%s: %v", url, err)
		}
		if private && deliver.CheckURL(url, false) == nil {
			t.Errorf("%s is allowed without private networks", url)
		}
	}
	if deliver.CheckURL("https://example.com/"+strings.Repeat("a", 5000), false) == nil {
		t.Error("a URL of 5000 bytes is allowed")
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, seed := range []string{"https://example.com/", "http://[::ffff:127.0.0.1]:80/", "http://127.1/", "http://a@b/", "http://%31/", "http://[fe80::1%25eth0]/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		strict, lax := deliver.CheckURL(raw, false), deliver.CheckURL(raw, true)
		if strict == nil && lax != nil {
			t.Fatalf("%q: only refused when more is allowed: %v", raw, lax)
		}
		if strict == nil && strings.ContainsAny(raw, " \r\n\x00@\x7f") && !strings.Contains(raw, "/") {
			t.Fatalf("%q is allowed", raw)
		}
	})
}

func TestClip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "s")
		limit := rapid.IntRange(0, 40).Draw(t, "limit")
		got := deliver.Clip(s, limit)
		if len(got) > limit || !utf8.ValidString(got) {
			t.Fatalf("clipped to %d: %q", limit, got)
		}
		if utf8.ValidString(s) && (!strings.HasPrefix(s, got) || len(got) < min(limit-3, len(s))) {
			t.Fatalf("%q clipped to %d is %q", s, limit, got)
		}
	})
}

func TestNew_ReportsEverythingAtOnce(t *testing.T) {
	t.Parallel()
	_, err := deliver.New(deliver.Config{
		Secrets: []deliver.Secret{"hunter2", "whsec_hunter2", "whsec_aHVudGVyMg=="}, CA: []byte("hunter2"),
		Headers: map[string]string{
			"Bad Name": "x", "X-Bad": "hunter2\r\nX-Evil: 1", "content-length": "1", "idempotency-key": "1",
			"webhook-id": "1", "Anteroom-Attempt": "1", "X-é": "1", "X-Fine": "tab\tand space",
		},
	})
	if !errors.Is(err, deliver.ErrConfig) || !errors.Is(err, deliver.ErrSecret) {
		t.Fatalf("error is %v", err)
	}
	for _, word := range []string{"Bad Name", "X-Bad", "Content-Length", "sent twice", "Webhook-Id", "Anteroom-Attempt", "X-é", "number 1: deliver: signing secret: does not start", "number 2", "number 3", "PEM"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error lacks %q: %v", word, err)
		}
	}
	if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "X-Fine") {
		t.Errorf("error says too much: %v", err)
	}
	for _, cfg := range []deliver.Config{{}, {Secrets: []deliver.Secret{secret}, Unsigned: true}} {
		if _, err := deliver.New(cfg); !errors.Is(err, deliver.ErrConfig) {
			t.Errorf("%+v: error is %v", cfg, err)
		}
	}
}

func TestSecret(t *testing.T) {
	t.Parallel()
	for s, good := range map[deliver.Secret]bool{
		secret: true,
		deliver.Secret("whsec_" + strings.Repeat("A", 86) + "=="): true,  // 64 bytes
		deliver.Secret("whsec_" + strings.Repeat("A", 88)):        false, // 66
		"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS":                   false,
		"whsec_MfKQ9r8GKYqrTwjUPD8ILPZI\no2LaLaSw":                false,
		"whsec_":                                 false,
		"":                                       false,
		"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw":       false,
		"whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw":  false,
		"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS-": false,
	} {
		if err := s.Validate(); (err == nil) != good {
			t.Errorf("%q: %v", string(s), err)
		}
	}
	text, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{fmt.Sprint(secret), fmt.Sprintf("%+v %#v", deliver.Config{Secrets: []deliver.Secret{secret}}, secret), string(text), secret.LogValue().String()} {
		if strings.Contains(shown, "MfKQ") {
			t.Errorf("shows the secret: %s", shown)
		}
	}
}

// A queue may say that it signs nothing; the id is there all the same.
func TestDeliver_Unsigned(t *testing.T) {
	t.Parallel()
	rec := newReceiver(t, status(200))
	d := newDeliverer(t, func(c *deliver.Config) { c.Secrets, c.Unsigned = nil, true })
	want(t, send(d, rec.URL), deliver.Delivered, deliver.NoCause)
	h := rec.seen()[0].Header
	if h.Get("Webhook-Id") != "job_1" || h.Values("Webhook-Signature") != nil {
		t.Errorf("header is %v", h)
	}
}
