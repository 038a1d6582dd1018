package rooms

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/anteroom/anteroom/internal/match"
)

// match reads one rule of what a room protects.
func (r *roomReader) match(n *yaml.Node) {
	r.lines["match"] = n.Line
	m := match.Rule{Path: "/"}
	r.mapping(n, "a match", func(key, value *yaml.Node) {
		if isNull(value) {
			return
		}
		switch key.Value {
		case "host":
			if r.scalar("match", value) {
				m.Host = strings.ToLower(value.Value)
			}
		case "path":
			if r.scalar("match", value) {
				m.Path = value.Value
			}
		case "case_sensitive":
			r.flag("match", value, &m.CaseSensitive)
		default:
			r.problem(key.Line, "unknown field %q in match, want host, path and case_sensitive", key.Value)
		}
	})
	if n.Kind != yaml.MappingNode {
		return
	}
	if name := strings.TrimPrefix(m.Host, "*."); m.Host != "*" {
		if reason := checkHost(name); reason != "" {
			r.complain("match", "match host %q %s", m.Host, reason)
		}
	}
	r.path("match path", m.Path)
	if _, err := match.New([]match.Entry{{Room: r.room.Name, Rule: m}}); err != nil && !r.wrong["match"] {
		r.complain("match", "%v", err)
	}
	same := m // of rules that nothing tells apart
	same.Path, _ = match.Normalise(m.Path)
	if !m.CaseSensitive {
		same.Path = strings.ToLower(same.Path)
	}
	if line, taken := r.matches[same]; taken {
		r.complain("match", "match %s%s is there already, in line %d", m.Host, m.Path, line)
	}
	r.matches[same] = n.Line
	r.room.Match = append(r.room.Match, m)
	r.rules = append(r.rules, n.Line)
}

// path holds a prefix to the form in which it can be compared.
func (r *roomReader) path(what, p string) {
	clean := path.Clean(p)
	_, err := match.Normalise(p)
	if err != nil || !plainPath(p) || strings.ContainsAny(p, "?#;") || p != clean && p != clean+"/" {
		r.complain("match", "%s %q must begin with one / and have no query, no // and no dots to resolve", what, p)
	}
}

var validMethod = regexp.MustCompile(`^[A-Z]{1,20}$`)

// exempt reads what a room lets through without a pass.
func (r *roomReader) exempt(n *yaml.Node) {
	e := &r.room.Exempt
	r.mapping(n, "exempt", func(key, value *yaml.Node) {
		r.lines["match"] = key.Line
		switch key.Value {
		case "methods":
			r.sequence(value, "methods", func(item *yaml.Node) {
				if !validMethod.MatchString(item.Value) {
					r.complain("match", "exempt method %q, want upper case such as OPTIONS", item.Value)
				}
				e.Methods = append(e.Methods, item.Value)
			})
		case "paths":
			r.sequence(value, "paths", func(item *yaml.Node) {
				r.path("exempt path", item.Value)
				e.Paths = append(e.Paths, item.Value)
				if item.Value == "/" {
					r.complain("match", "exempt path / exempts everything; enabled: false says so")
				}
			})
		case "assets":
			r.flag("match", value, &e.Assets)
		default:
			r.problem(key.Line, "unknown field %q in exempt, want methods, paths and assets", key.Value)
		}
	})
}

// gate checks how sessions are renewed and pages shown in place. Visitors may be sent to
// the hosts that the room protects.
func (r *roomReader) gate() {
	for _, m := range r.room.Match {
		if !strings.Contains(m.Host, "*") && !slices.Contains(r.room.Targets, m.Host) {
			r.room.Targets = append(r.room.Targets, m.Host)
		}
	}
	if s := r.room.State; !r.wrong["state"] && s != IsOpen && s != Paused && s != Closed {
		r.complain("state", "state is %q, want open, paused or closed", s)
	}
	if s := r.room.Renew; !r.wrong["renew"] && s != RenewSliding && s != RenewFixed {
		r.complain("renew", "renew is %q, want sliding or fixed", s)
	}
	if !r.wrong["max_session"] && !r.wrong["session"] && r.room.MaxSession < r.room.Session {
		r.complain("max_session", "max_session (%v) is shorter than session (%v)", r.room.MaxSession, r.room.Session)
	}
	if r.lines["max_session"] != 0 && r.room.Renew == RenewFixed {
		r.complain("max_session", "max_session has no effect with renew: fixed")
	}
	if s := r.room.QueueStatus; !r.wrong["queue_status"] && s != 200 && s != 503 {
		r.complain("queue_status", "queue_status is %d, want 200 or 503", s)
	}
	if r.room.Origin != "" && len(r.room.Match) == 0 {
		r.complain("origin", "origin needs match: which addresses lead to it")
	}
}
