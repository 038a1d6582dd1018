package gate

import (
	"strings"
	"time"

	"github.com/anteroom/anteroom/pass"
)

// cached is the session of the pass in a request's cookie, nil unless the line's word about
// it still counts: the way of almost every request of somebody inside, so it builds nothing.
// Whatever it does not settle is judged as if it had not looked.
func (g *Gate) cached(a *Answer, now time.Time) *session {
	h := a.Request.Header
	if len(h[pass.HeaderPass]) > 0 || len(h["Authorization"]) > 0 {
		return nil // may show another pass, which comes first
	}
	token := cookie(h["Cookie"], pass.CookieName(a.Room.Name))
	if token == "" {
		return nil
	}
	one := g.sessions.of(token, a.Room.Name)
	if one == nil || g.old(one) || !g.sessions.use(one, now) {
		return nil
	}
	a.shown = token
	return one
}

// cookie is the first value of a name in Cookie headers as it was sent. A value that is not
// sent as we set it, in quotes say, is none that is known here.
func cookie(lines []string, name string) string {
	for _, line := range lines {
		for line != "" {
			part, rest, _ := strings.Cut(line, ";")
			line, part = rest, strings.Trim(part, " \t")
			if len(part) > len(name) && part[len(name)] == '=' && part[:len(name)] == name {
				return part[len(name)+1:]
			}
		}
	}
	return ""
}

// cutHandover is pass.CutHandover, which takes the query apart, where there may be a token.
func cutHandover(uri string) (clean, token string, found bool) {
	if !strings.Contains(uri, pass.HandoverParam) && !strings.Contains(uri, "%") { // may spell it with escapes
		return uri, "", false
	}
	return pass.CutHandover(uri)
}
