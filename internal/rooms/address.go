package rooms

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/anteroom/anteroom/internal/match"
	"github.com/anteroom/anteroom/queue"
)

var validHost = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$`)

func (r *roomReader) target(n *yaml.Node) {
	r.lines["targets"] = n.Line
	if isNull(n) {
		r.complain("targets", "a target is empty")
		return
	}
	if !r.scalar("targets", n) {
		return
	}
	host := strings.ToLower(n.Value)
	if reason := checkHost(host); reason != "" {
		r.complain("targets", "target %q %s", n.Value, reason)
		return
	}
	r.room.Targets = append(r.room.Targets, host)
}

// checkHost says what is wrong with a lower-case host or host:port, "" if nothing.
func checkHost(s string) string {
	const noHost = "is not a host or host:port, without a scheme or path"
	host, port := s, "80"
	if strings.Contains(s, ":") && !strings.HasSuffix(s, "]") {
		var err error
		if host, port, err = net.SplitHostPort(s); err != nil {
			return noHost
		}
		if strings.HasPrefix(s, "[") {
			host = "[" + host + "]"
		}
	}
	n, err := strconv.Atoi(port)
	if errors.Is(err, strconv.ErrSyntax) {
		return noHost
	}
	if err != nil || n < 1 || n > 65535 || strconv.Itoa(n) != port {
		return "has no port from 1 to 65535"
	}
	if v6, ok := strings.CutPrefix(host, "["); ok {
		addr, err := netip.ParseAddr(strings.TrimSuffix(v6, "]"))
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return "is not an IPv6 address in brackets"
		}
		return ""
	}
	switch {
	case strings.ContainsFunc(host, func(c rune) bool { return c > 127 }):
		return "has letters beyond ASCII; write the name as xn--…"
	case strings.Contains(host, "*"):
		return "has a *; name each host"
	case len(host) > 253 || !validHost.MatchString(host):
		return noHost
	}
	return ""
}

// checkDefault says what is wrong with a default target, "" if nothing.
func checkDefault(target string, hosts []string) string {
	const want = "is neither a path nor a URL on a host of targets"
	if len(target) > queue.MaxTarget {
		return "is longer than " + strconv.Itoa(queue.MaxTarget) + " bytes"
	}
	u, err := url.Parse(target)
	if err != nil {
		return want
	}
	listed := (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && slices.Contains(hosts, strings.ToLower(u.Host))
	if !listed && !plainPath(target) || strings.Contains(target, `\`) {
		return want
	}
	if !listed && OwnPage(u.EscapedPath()) {
		return "is a page of the waiting room itself, which would send visitors in a circle; name a page of the site behind it"
	}
	return ""
}

// OwnPage tells our own addresses from those of a site behind us, by the path as it is
// written in a URL. Browsers resolve dots, escaped ones too, before they ask.
func OwnPage(escaped string) bool {
	path, err := match.Normalise(escaped)
	if err != nil {
		return false
	}
	for _, own := range []string{"/r", "/v1/rooms", "/gate"} {
		if path == own || strings.HasPrefix(path, own+"/") {
			return true
		}
	}
	return false
}

// checkOrigin says what is wrong with the address of a site behind a room, "" if nothing.
func checkOrigin(origin string) string {
	u, err := url.Parse(origin)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || checkHost(strings.ToLower(u.Host)) != "":
		return "is not an http or https URL"
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "must have no user, query or fragment"
	}
	return ""
}

// plainPath is a path on the same host: one slash, not followed by another, and nothing
// that browsers read as a slash (\) or skip (tabs and line ends).
func plainPath(s string) bool {
	return strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "//") && !strings.ContainsAny(s, "\\\t\r\n")
}
