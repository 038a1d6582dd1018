package match

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// ErrHost means that a host is none. The answer to such a request is 400.
var ErrHost = errors.New("match: the host of the request is not sound")

// hostPort is a host in lower case without a trailing dot, and its port ("" = not given).
type hostPort struct{ name, port string }

// Host is a Host header as rules are compared with it: lower case, without the dot
// that may end a full name, zeros before the port or a port that is empty. IPv6 keeps its
// brackets and has its shortest form. The error is ErrHost.
func Host(raw string) (string, error) {
	h, err := readHost(raw)
	if err != nil || h.port == "" {
		return h.name, err
	}
	return h.name + ":" + h.port, nil
}

// readHost does not allocate where the host is written as browsers write it. An empty host
// (HTTP/1.0) is sound and matches only *.
func readHost(raw string) (hostPort, error) {
	h := hostPort{name: raw}
	if strings.HasPrefix(raw, "[") {
		return readIPv6(raw)
	}
	if i := strings.IndexByte(raw, ':'); i >= 0 {
		h.name = raw[:i]
		if !h.setPort(raw[i+1:]) {
			return hostPort{}, fmt.Errorf("%w: its port is no number", ErrHost)
		}
	}
	upper := false
	for i := range len(h.name) {
		switch c := h.name[i]; {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_':
		case c >= 'A' && c <= 'Z':
			upper = true
		default:
			// An escape or a letter beyond ASCII: what is behind may map it to any name.
			return hostPort{}, fmt.Errorf("%w: it has the character %q", ErrHost, c)
		}
	}
	if upper {
		h.name = strings.ToLower(h.name)
	}
	h.name = strings.TrimRight(h.name, ".")
	return h, nil
}

func readIPv6(raw string) (hostPort, error) {
	inside, after, closed := strings.Cut(raw[1:], "]")
	addr, err := netip.ParseAddr(inside)
	if err != nil || !closed || !addr.Is6() || addr.Zone() != "" {
		return hostPort{}, fmt.Errorf("%w: it is no IPv6 address in brackets", ErrHost)
	}
	h := hostPort{name: "[" + addr.String() + "]"}
	port, given := strings.CutPrefix(after, ":")
	if after != "" && !given || !h.setPort(port) {
		return hostPort{}, fmt.Errorf("%w: its port is no number", ErrHost)
	}
	return h, nil
}

// setPort takes a port without the zeros before it: two spellings of one port are one.
func (h *hostPort) setPort(port string) bool {
	for i := range len(port) {
		if port[i] < '0' || port[i] > '9' {
			return false
		}
	}
	h.port = strings.TrimLeft(port, "0")
	return len(h.port) <= 5
}

// ruleHost reads the host of a rule.
func ruleHost(raw string) (hostClass, hostPort, error) {
	class, name := exactHost, raw
	if raw == "*" {
		return anyHost, hostPort{}, nil
	}
	if parent, ok := strings.CutPrefix(raw, "*."); ok {
		class, name = wildHost, parent
	}
	h, err := readHost(name)
	switch {
	case err != nil || h.name == "" || strings.HasPrefix(h.name, ".") || strings.Contains(h.name, ".."):
		return 0, hostPort{}, errors.New("its host is none of shop.example, shop.example:8443, *.shop.example and *")
	case raw != strings.ToLower(raw):
		return 0, hostPort{}, errors.New("its host is not in lower case")
	case h.port != "" && class == exactHost:
		class = portHost
	}
	return class, h, nil
}

// HostMatches reports whether a rule's host covers a host.
func HostMatches(rule, host string) bool {
	class, want, err := ruleHost(rule)
	h, bad := readHost(host)
	return err == nil && bad == nil && (&compiled{class: class, host: want}).ofHost(h)
}
