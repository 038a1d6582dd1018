package clientkey_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/anteroom/anteroom/limit/clientkey"
)

func networks(all ...string) (out []netip.Prefix) {
	for _, n := range all {
		out = append(out, netip.MustParsePrefix(n))
	}
	return out
}

func request(peer string, forwarded ...string) *http.Request {
	r := &http.Request{RemoteAddr: peer, Header: http.Header{}}
	if forwarded != nil {
		r.Header["X-Forwarded-For"] = forwarded
	}
	return r
}

// RL-14: who is no trusted proxy is known by the connection, whatever the headers say.
func TestAddress_RL14_HeadersOfStrangersChangeNothing(t *testing.T) {
	t.Parallel()
	p := clientkey.Listed(networks("10.0.0.0/8"))
	for i := range 200 {
		r := request("203.0.113.9:4711", fmt.Sprintf("198.51.100.%d", i))
		for _, name := range []string{"True-Client-Ip", "X-Real-Ip", "Cf-Connecting-Ip"} {
			r.Header.Set(name, fmt.Sprintf("198.51.100.%d", i))
		}
		r.Header.Set("Forwarded", fmt.Sprintf("for=198.51.100.%d", i))
		if got := p.Address(r).String(); got != "203.0.113.9" {
			t.Fatalf("with forged header %d the address is %s, want 203.0.113.9", i, got)
		}
	}
}

// RL-14: behind a trusted proxy only X-Forwarded-For counts, from the right.
func TestAddress_RL14_RightToLeftBehindTrustedProxies(t *testing.T) {
	t.Parallel()
	p := clientkey.Listed(networks("10.0.0.0/8", "fd00::/8", "::ffff:172.16.0.0/108"))
	const peer = "10.0.0.2:1"
	for name, c := range map[string]struct {
		peer  string
		lines []string
		want  string
	}{
		"the case as written":         {peer, []string{"evil, 198.51.100.7, 10.0.0.3"}, "198.51.100.7"},
		"a victim's address in front": {peer, []string{"192.0.2.1, 198.51.100.7"}, "198.51.100.7"},
		"several lines":               {peer, []string{"192.0.2.1", "198.51.100.7", "10.0.0.3"}, "198.51.100.7"},
		"no header":                   {peer, nil, "10.0.0.2"},
		"an empty header":             {peer, []string{""}, "10.0.0.2"},
		"an empty part left of it":    {peer, []string{"192.0.2.1,,198.51.100.7"}, "198.51.100.7"},
		"an empty part before ours":   {peer, []string{"192.0.2.1,,10.0.0.3"}, "10.0.0.2"},
		"unknown":                     {peer, []string{"unknown"}, "10.0.0.2"},
		"IPv6 with a port":            {peer, []string{"[2001:db8::1]:443"}, "2001:db8::1"},
		"IPv6 in brackets":            {peer, []string{"[2001:db8::1]"}, "2001:db8::1"},
		"IPv4 in brackets":            {peer, []string{"[192.0.2.1]"}, "10.0.0.2"},
		"IPv4 with a port":            {peer, []string{"198.51.100.7:50000"}, "198.51.100.7"},
		"a zone":                      {peer, []string{"fe80::1%eth0"}, "fe80::1"},
		"a trusted proxy with a zone": {"[fd00::2%eth0]:1", []string{"198.51.100.7"}, "198.51.100.7"},
		"mapped IPv4":                 {peer, []string{"::ffff:198.51.100.7"}, "198.51.100.7"},
		"a mapped peer":               {"[::ffff:10.0.0.2]:1", []string{"198.51.100.7, ::ffff:10.0.0.9"}, "198.51.100.7"},
		"a mapped network":            {"172.16.0.1:1", []string{"198.51.100.7"}, "198.51.100.7"},
		"nobody's address":            {peer, []string{"0.0.0.0"}, "10.0.0.2"},
		"leading zeros":               {peer, []string{"198.051.100.007"}, "10.0.0.2"},
		"a visitor from inside":       {peer, []string{"10.9.9.9, 10.0.0.3"}, "10.9.9.9"},
		"10 KB":                       {peer, []string{strings.Repeat("192.0.2.1, ", 1000) + "198.51.100.7"}, "198.51.100.7"},
		"10 KB of proxies":            {peer, []string{"192.0.2.1, " + strings.Repeat("10.0.0.3, ", 1000) + "10.0.0.4"}, "10.0.0.2"},
		"a Unix socket":               {"@", []string{"198.51.100.7"}, "invalid IP"},
	} {
		if got := p.Address(request(c.peer, c.lines...)).String(); got != c.want {
			t.Errorf("%s: the address is %s, want %s", name, got, c.want)
		}
	}
}

func TestAddress_CountedProxies(t *testing.T) {
	t.Parallel()
	p, err := clientkey.Counted(2, networks("10.0.0.0/8"))
	if err != nil {
		t.Fatal(err)
	}
	for lines, want := range map[string]string{
		"192.0.2.1, 198.51.100.7, 203.0.113.80": "198.51.100.7",
		"198.51.100.7, unknown":                 "198.51.100.7",
		"10.1.1.1, 203.0.113.80":                "10.1.1.1",
		"203.0.113.80":                          "10.0.0.2", // went past one of the two
		"unknown, 203.0.113.80":                 "10.0.0.2",
	} {
		if got := p.Address(request("10.0.0.2:1", lines)).String(); got != want {
			t.Errorf("%q: the address is %s, want %s", lines, got, want)
		}
	}
	if got := p.Address(request("203.0.113.9:1", "198.51.100.7, 203.0.113.80")).String(); got != "203.0.113.9" {
		t.Errorf("a stranger who counts right is %s, want 203.0.113.9", got)
	}
	for _, hops := range []int{-1, 0, 33} {
		if _, err := clientkey.Counted(hops, networks("10.0.0.0/8")); !errors.Is(err, clientkey.ErrProxies) {
			t.Errorf("%d hops: %v, want ErrProxies", hops, err)
		}
	}
	if _, err := clientkey.Counted(1, nil); !errors.Is(err, clientkey.ErrProxies) {
		t.Errorf("no networks: %v, want ErrProxies", err)
	}
}

func TestAddress_AllocatesNothing(t *testing.T) {
	p := clientkey.Listed(networks("10.0.0.0/8"))
	r := request("10.0.0.2:1", strings.Repeat("192.0.2.1, ", 1000)+"198.51.100.7, 10.0.0.3")
	if n := testing.AllocsPerRun(100, func() { p.Address(r) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
