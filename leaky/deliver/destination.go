package deliver

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// ErrURL is wrapped by what is wrong with the form of a destination.
var ErrURL = errors.New("deliver: destination")

// maxURL bounds a destination, in bytes.
const maxURL = 4 << 10

// servicePorts are ports over 1023 where something listens that is no web server and that
// an HTTP request can hurt or feed: data stores, brokers, remote control.
var servicePorts = []uint16{
	1433, 1521, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 4369, 5432, 5672, 5900, 5984, 6000, 6379, 6380,
	6443, 6666, 6667, 7000, 7001, 8086, 9042, 9092, 9093, 9200, 9300, 10250, 11211, 15672, 16379, 26379, 27017, 27018, 50070,
}

// CheckURL says why raw is no destination, or nil. It is for the moment a queue is saved;
// what names resolve to is checked later, as it is dialled. The error wraps ErrURL, or
// ErrBlocked for an address, name or port that is not allowed.
func CheckURL(raw string, allowPrivate bool) error {
	_, err := parseURL(raw, allowPrivate)
	return err
}

// parseURL is CheckURL that also gives the parsed form.
func parseURL(raw string, allowPrivate bool) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, fmt.Errorf("%w: is %d bytes long, over %d", ErrURL, len(raw), maxURL)
	}
	// A space would end the request line early; the rest is for the reader of logs.
	if i := strings.IndexFunc(raw, func(r rune) bool { return r <= ' ' || r >= 0x7f }); i >= 0 {
		return nil, fmt.Errorf("%w: has the character %q; write it with %%, and a host name in its xn-- form", ErrURL, raw[i:i+1])
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: is no URL", ErrURL) // the parser's error quotes all of it
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("%w: scheme is %q, want https or http", ErrURL, u.Scheme)
	case u.Opaque != "" || u.Hostname() == "":
		return nil, fmt.Errorf("%w: has no host", ErrURL)
	case u.User != nil:
		return nil, fmt.Errorf("%w: has a user before the host; send credentials in a header, where logs do not show them", ErrURL)
	}
	if err := checkHost(u.Hostname(), allowPrivate); err != nil {
		return nil, err
	}
	port, err := portOf(u)
	if err != nil {
		return nil, err
	}
	return u, checkPort(port, allowPrivate)
}

// checkHost refuses literal addresses that may not be dialled and names that say themselves
// that they are local.
func checkHost(host string, allowPrivate bool) error {
	if address, err := netip.ParseAddr(host); err == nil {
		return CheckAddr(address, allowPrivate)
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" || name == "" {
		return fmt.Errorf("%w: the host %q is no name", ErrURL, host)
	}
	labels := strings.Split(name, ".")
	last := labels[len(labels)-1]
	// 127.1, 0x7f.1 and 2130706433 are addresses to some resolvers (WHATWG URL, 3.5), and
	// no top-level domain looks like them.
	if digits(last) || strings.HasPrefix(last, "0x") {
		return fmt.Errorf("%w: the host %q is an address written as a number", ErrBlocked, host)
	}
	if last == "localhost" && !allowPrivate {
		return fmt.Errorf("%w: %q is this machine, and the queue does not allow private networks", ErrBlocked, host)
	}
	return nil
}

// portOf is the port that u leads to.
func portOf(u *url.URL) (uint16, error) {
	switch {
	case u.Port() != "":
		port, err := strconv.ParseUint(u.Port(), 10, 16)
		if err != nil || port == 0 {
			return 0, fmt.Errorf("%w: the port %q is not within 1 and 65535", ErrURL, u.Port())
		}
		return uint16(port), nil
	case u.Scheme == "https":
		return 443, nil
	default:
		return 80, nil
	}
}

// checkPort refuses ports of services that are not the web's. A queue that may reach
// private networks is trusted with its ports too: its operator knows what listens there.
func checkPort(port uint16, allowPrivate bool) error {
	if allowPrivate || port == 80 || port == 443 {
		return nil
	}
	if port < 1024 || slices.Contains(servicePorts, port) {
		return fmt.Errorf("%w: port %d is not one of web servers, and the queue does not allow private networks", ErrBlocked, port)
	}
	return nil
}
