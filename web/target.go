package web

import (
	"net/url"
	"slices"
	"strings"

	"github.com/anteroom/anteroom/internal/match"
	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/queue"
)

// maxUnwrap bounds how many times a target inside a target is taken out.
const maxUnwrap = 8

// safeTarget is the wanted address if a visitor of the room may be sent there, else the
// room's default. It is asked when a ticket is made and again before every redirect. An
// address of this server's own pages is unwrapped to the target that it carries, so that
// going round never lengthens it.
func (s *Server) safeTarget(room rooms.Room, wanted string) string {
	for range maxUnwrap {
		u, ok := s.parseTarget(room, wanted)
		if !ok {
			break
		}
		if !s.ownPage(room, u) {
			return wanted
		}
		wanted = u.Query().Get("target")
	}
	return room.Default
}

func (s *Server) parseTarget(room rooms.Room, wanted string) (*url.URL, bool) {
	if wanted == "" || len(wanted) > queue.MaxTarget || hasControl(wanted) || strings.Contains(wanted, "\\") {
		return nil, false
	}
	u, err := url.Parse(wanted)
	if err != nil || u.User != nil || u.Opaque != "" {
		return nil, false
	}
	if u.Scheme == "" && u.Host == "" {
		return u, strings.HasPrefix(wanted, "/") && !strings.HasPrefix(wanted, "//")
	}
	host := strings.ToLower(u.Host)
	return u, (u.Scheme == "http" || u.Scheme == "https") && host != "" &&
		(slices.Contains(room.Targets, host) || host == s.PublicURL.Host || protects(room, host))
}

// protects reports whether a room's rules name a host: visitors came from there. A rule for
// every host names none.
func protects(room rooms.Room, host string) bool {
	return slices.ContainsFunc(room.Match, func(r match.Rule) bool { return r.Host != "*" && match.HostMatches(r.Host, host) })
}

// ownPage tells the addresses of the waiting room itself from those behind it.
// On a protected host, which a proxy may share between us and the site, only the page of
// this room is surely ours.
func (s *Server) ownPage(room rooms.Room, u *url.URL) bool {
	if u.Host == "" || strings.EqualFold(u.Host, s.PublicURL.Host) {
		return rooms.OwnPage(u.EscapedPath())
	}
	path, err := match.Normalise(u.EscapedPath())
	return err == nil && (path == "/r/"+room.Name || strings.HasPrefix(path, "/r/"+room.Name+"/"))
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f })
}
