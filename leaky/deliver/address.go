package deliver

import (
	"errors"
	"fmt"
	"net/netip"
)

// ErrBlocked is wrapped by every refusal of an address, a name or a port.
var ErrBlocked = errors.New("deliver: blocked")

// block is a network that is not dialled. Those marked private may be allowed by a queue.
type block struct {
	network netip.Prefix
	private bool
	why     string
}

// blocks is searched in order, so that a metadata service inside a private network is found
// first. The networks are those of the IANA special-purpose registries that are not globally
// reachable (documentation networks, which lead nowhere, aside), and the clouds' metadata
// services.
var blocks = []block{
	always("169.254.0.0/16", "link-local, where clouds keep their metadata services"),
	always("100.100.100.200/32", "Alibaba Cloud's metadata service"),
	always("168.63.129.16/32", "Azure's platform service"),
	always("192.0.0.0/24", "for protocols, and Oracle Cloud's metadata service"),
	always("fd00:ec2::254/128", "the EC2 metadata service"),
	always("fd20:ce::254/128", "Google Cloud's metadata service"),
	always("0.0.0.0/8", "unspecified"),
	always("::/128", "unspecified"),
	always("fe80::/10", "link-local"),
	always("224.0.0.0/4", "multicast"),
	always("ff00::/8", "multicast"),
	always("240.0.0.0/4", "reserved or broadcast"),
	always("192.88.99.0/24", "a 6to4 relay"),
	always("2001::/32", "Teredo"),
	private("127.0.0.0/8", "loopback"),
	private("::1/128", "loopback"),
	private("10.0.0.0/8", "private"),
	private("172.16.0.0/12", "private"),
	private("192.168.0.0/16", "private"),
	private("100.64.0.0/10", "shared by carrier-grade NAT"),
	private("198.18.0.0/15", "for benchmarks"),
	private("fc00::/7", "private (unique local)"),
	private("64:ff9b:1::/48", "for local NAT64"),
}

// globalUnicast holds every IPv6 address that is routed on the internet.
var globalUnicast = netip.MustParsePrefix("2000::/3")

func always(network, why string) block  { return block{netip.MustParsePrefix(network), false, why} }
func private(network, why string) block { return block{netip.MustParsePrefix(network), true, why} }

// CheckAddr says why address may not be dialled, or nil; the error wraps ErrBlocked. An IPv4
// address within an IPv6 one (mapped, 6to4, NAT64, ISATAP) is checked as itself.
// allowPrivate lets loopback, private and NAT networks through, and nothing else.
func CheckAddr(address netip.Addr, allowPrivate bool) error {
	plain := address.WithZone("").Unmap()
	if inner, form := embedded(plain); form != "" {
		if err := CheckAddr(inner, allowPrivate); err != nil {
			return fmt.Errorf("%w (the %s form of it, %s)", err, form, address)
		}
		return nil
	}
	for _, b := range blocks {
		if !b.network.Contains(plain) {
			continue
		}
		if b.private && allowPrivate {
			return nil
		}
		if b.private {
			return fmt.Errorf("%w: %s is %s, and the queue does not allow private networks", ErrBlocked, plain, b.why)
		}
		return fmt.Errorf("%w: %s is %s", ErrBlocked, plain, b.why)
	}
	if !plain.Is4() && !globalUnicast.Contains(plain) {
		return fmt.Errorf("%w: %s is no address on the internet", ErrBlocked, plain)
	}
	return nil
}

// Where an IPv6 address holds an IPv4 one.
var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052
	sixTo4 = netip.MustParsePrefix("2002::/16")    // RFC 3056
)

// embedded is the IPv4 address that a gateway would send address on to, and the name of
// the form; empty if there is none.
func embedded(address netip.Addr) (inner netip.Addr, form string) {
	if !address.Is6() {
		return address, ""
	}
	b := address.As16()
	switch {
	case nat64.Contains(address):
		return netip.AddrFrom4([4]byte(b[12:16])), "NAT64"
	case sixTo4.Contains(address):
		return netip.AddrFrom4([4]byte(b[2:6])), "6to4"
	// RFC 5214: the interface part is 00-00-5E-FE or 02-00-5E-FE and the address.
	case b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe && globalUnicast.Contains(address):
		return netip.AddrFrom4([4]byte(b[12:16])), "ISATAP"
	}
	return address, ""
}
