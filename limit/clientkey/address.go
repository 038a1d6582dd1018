package clientkey

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// ErrProxies is wrapped by every complaint about a set of proxies.
var ErrProxies = errors.New("clientkey: unusable set of proxies")

// mostParts bounds how many addresses of a header are looked at, from the right. No real
// chain is as long; a header of many kilobytes costs no more than this.
const mostParts = 32

// Proxies are the proxies whose word about a visitor's address is believed. The zero value
// believes nobody. It is read-only, so any goroutine may use it.
type Proxies struct {
	networks []netip.Prefix
	hops     int // 0 = as many as are listed
}

// Listed believes the proxies in some networks. The visitor is the right-most address that
// is in none of them.
func Listed(networks []netip.Prefix) Proxies {
	p := Proxies{networks: make([]netip.Prefix, len(networks))}
	for i, n := range networks {
		p.networks[i] = plain(n)
	}
	return p
}

// Counted believes a chain of exactly hops proxies, where the addresses of all but the last
// are not known, as before a CDN. The last one, which connects to us, must be in networks.
// The visitor is the address that is hops from the right. The error wraps ErrProxies.
func Counted(hops int, networks []netip.Prefix) (Proxies, error) {
	if hops < 1 || hops > mostParts {
		return Proxies{}, fmt.Errorf("%w: %d hops, want 1 to %d", ErrProxies, hops, mostParts)
	}
	if len(networks) == 0 {
		return Proxies{}, fmt.Errorf("%w: the networks of the proxy that connects to us are missing", ErrProxies)
	}
	p := Listed(networks)
	p.hops = hops
	return p, nil
}

// plain writes a network of IPv4-mapped addresses as one of IPv4, as addresses are.
func plain(n netip.Prefix) netip.Prefix {
	if n.Addr().Is4In6() && n.Bits() >= 96 {
		return netip.PrefixFrom(n.Addr().Unmap(), n.Bits()-96).Masked()
	}
	return n.Masked()
}

// Trusts tells whether an address is a trusted proxy's.
func (p Proxies) Trusts(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	for _, n := range p.networks {
		if n.Contains(addr) {
			return true
		}
	}
	return false
}

// Peer is the address of the connection, without zone and not IPv4-mapped. It is the zero
// Addr where there is none, as on a Unix socket.
func Peer(r *http.Request) netip.Addr {
	addr, _ := parse(r.RemoteAddr)
	return addr
}

// Address is the visitor's address, as Peer gives it. Where a trusted proxy says nothing
// that can be read, it is that proxy's: visitors then share it, and none can choose another.
// Where all addresses are trusted, it is the first of them: a visitor inside the network.
func (p Proxies) Address(r *http.Request) netip.Addr {
	peer := Peer(r)
	lines := r.Header["X-Forwarded-For"]
	if len(lines) == 0 || !p.Trusts(peer) {
		return peer
	}
	first, seen := peer, 0
	for i := len(lines) - 1; i >= 0; i-- {
		for rest, more := lines[i], true; more; {
			if seen++; seen > mostParts {
				return peer
			}
			var part string
			rest, part, more = cutLast(rest)
			addr, ok := parse(strings.Trim(part, " \t"))
			switch {
			case p.hops > 0 && seen < p.hops:
				continue // a proxy that we know by its place only
			case !ok:
				return peer
			case p.hops > 0 || !p.Trusts(addr):
				return addr
			}
			first = addr
		}
	}
	if p.hops > 0 {
		return peer // fewer hops than there should be: the request took another way
	}
	return first
}

// cutLast cuts a list at its last comma.
func cutLast(list string) (before, last string, found bool) {
	if i := strings.LastIndexByte(list, ','); i >= 0 {
		return list[:i], list[i+1:], true
	}
	return "", list, false
}

// parse reads an address, with a port or without: 192.0.2.1, 192.0.2.1:80, 2001:db8::1,
// [2001:db8::1], [2001:db8::1]:80. It drops the zone, which only the proxy could use. The
// unspecified address is nobody's.
func parse(text string) (netip.Addr, bool) {
	var addr netip.Addr
	var err error
	inner, bracket := strings.CutPrefix(text, "[")
	switch {
	case bracket && strings.HasSuffix(inner, "]"):
		addr, err = netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		if addr.Is4() {
			return netip.Addr{}, false
		}
	case bracket || strings.Count(text, ":") == 1:
		var both netip.AddrPort
		both, err = netip.ParseAddrPort(text)
		addr = both.Addr()
	default:
		addr, err = netip.ParseAddr(text)
	}
	addr = addr.Unmap().WithZone("")
	if err != nil || addr.IsUnspecified() {
		return netip.Addr{}, false
	}
	return addr, true
}
