package clientkey_test

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/realclientip/realclientip-go"

	"github.com/anteroom/anteroom/limit/clientkey"
)

// FuzzClientAddress holds the walk to another reading of the same rule, and to what must
// hold of any header: strangers change nothing, and what is put in front changes nothing.
func FuzzClientAddress(f *testing.F) {
	for _, seed := range []string{"evil, 198.51.100.7, 10.0.0.3", "a,,b", "[2001:db8::1]:443", "unknown", "::ffff:10.0.0.3,", "fe80::1%eth0", "10.0.0.3", "1.2.3.4:5, 10.0.0.1"} {
		f.Add(seed, "192.0.2.1")
	}
	trusted := networks("10.0.0.0/8")
	p := clientkey.Listed(trusted)
	_, ten, err := net.ParseCIDR("10.0.0.0/8")
	if err != nil {
		f.Fatal(err)
	}
	other, err := realclientip.NewRightmostTrustedRangeStrategy("X-Forwarded-For", []net.IPNet{*ten})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, list, front string) {
		if got := p.Address(request("203.0.113.9:1", list)); got.String() != "203.0.113.9" {
			t.Fatalf("%q of a stranger gave %s", list, got)
		}
		got := p.Address(request("10.0.0.2:1", list))
		if !got.IsValid() || got.Zone() != "" || got.Is4In6() {
			t.Fatalf("%q gave %s", list, got)
		}
		if p.Trusts(got) {
			return
		}
		if with := p.Address(request("10.0.0.2:1", front+","+list)); with != got {
			t.Fatalf("%q gave %s, and %s with %q in front", list, got, with, front)
		}
		text := other.ClientIP(http.Header{"X-Forwarded-For": {list}}, "")
		theirs, err := netip.ParseAddr(text)
		if err != nil && !strings.ContainsAny(list, "[]:") {
			t.Fatalf("%q gave %s, another reader nothing", list, got)
		}
		if err == nil && theirs.Unmap().WithZone("") != got {
			t.Fatalf("%q gave %s, another reader %s", list, got, theirs)
		}
	})
}
