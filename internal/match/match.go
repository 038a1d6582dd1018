package match

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Rule says what a room protects.
type Rule struct {
	// Host is in lower case: exact (shop.example, any port; or shop.example:8443), every
	// subdomain (*.shop.example, without shop.example itself), or every host (*).
	Host string
	// Path is a prefix by whole segments: /sale has /sale, /sale/ and /sale/x, and not
	// /salesman. / has every path.
	Path string
	// CaseSensitive tells /Sale from /sale. The default protects both.
	CaseSensitive bool
}

// Entry is a rule of a room.
type Entry struct {
	Room string
	Rule Rule
}

// Found is the room that protects an address.
type Found struct {
	Room string
	Rule Rule
	Path string // normalised; "" is the root
}

// Matcher finds rooms. It does not change after New.
type Matcher struct {
	exact    map[string][]compiled // by host, with or without a port
	suffixes []suffix              // wildcards, the longest first
	any      []compiled
	entries  []Entry
}

type suffix struct {
	domain string // .shop.example
	rules  []compiled
}

// compiled is a rule in its normal form.
type compiled struct {
	Entry
	path string // normalised, folded unless the rule is case-sensitive
}

// ErrRule is wrapped by every error of New.
var ErrRule = errors.New("match: bad rule")

// New makes a matcher. The more exact host wins, then the longer path. Two rooms that claim
// the same addresses are an error.
func New(entries []Entry) (*Matcher, error) {
	m := &Matcher{exact: map[string][]compiled{}, entries: slices.Clone(entries)}
	var errs []error
	wild := map[string][]compiled{}
	for _, e := range entries {
		c, err := compile(e)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		switch host := e.Rule.Host; {
		case host == "*":
			m.any = append(m.any, c)
		case strings.HasPrefix(host, "*."):
			wild[host[1:]] = append(wild[host[1:]], c)
		default:
			m.exact[host] = append(m.exact[host], c)
		}
	}
	for domain, rules := range wild {
		m.suffixes = append(m.suffixes, suffix{domain, rules})
	}
	slices.SortFunc(m.suffixes, func(a, b suffix) int { return cmp.Compare(len(b.domain), len(a.domain)) })
	sets := [][]compiled{m.any}
	for _, s := range m.suffixes {
		sets = append(sets, s.rules)
	}
	for _, rules := range m.exact {
		sets = append(sets, rules)
	}
	for _, rules := range sets {
		errs = append(errs, order(rules))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return m, nil
}

func compile(e Entry) (compiled, error) {
	path, err := Normalise(e.Rule.Path)
	if err != nil || !strings.HasPrefix(e.Rule.Path, "/") {
		return compiled{}, fmt.Errorf("%w: room %s: path %q", ErrRule, e.Room, e.Rule.Path)
	}
	host := strings.TrimPrefix(e.Rule.Host, "*.")
	if host == "" || host != strings.ToLower(host) || host != "*" && strings.ContainsAny(host, "*/ ") {
		return compiled{}, fmt.Errorf("%w: room %s: host %q", ErrRule, e.Room, e.Rule.Host)
	}
	if !e.Rule.CaseSensitive {
		path = fold(path)
	}
	return compiled{e, path}, nil
}

// order puts longer paths first, case-sensitive ones before others, and reports rules of
// two rooms that nothing tells apart.
func order(rules []compiled) error {
	slices.SortStableFunc(rules, func(a, b compiled) int {
		if n := cmp.Compare(strings.Count(b.path, "/"), strings.Count(a.path, "/")); n != 0 {
			return n
		}
		if n := cmp.Compare(a.path, b.path); n != 0 {
			return n
		}
		if a.Rule.CaseSensitive != b.Rule.CaseSensitive {
			if a.Rule.CaseSensitive {
				return -1
			}
			return 1
		}
		return 0
	})
	for i := 1; i < len(rules); i++ {
		a, b := rules[i-1], rules[i]
		if a.path == b.path && a.Rule.CaseSensitive == b.Rule.CaseSensitive && a.Room != b.Room {
			return fmt.Errorf("%w: rooms %s and %s both claim %s%s", ErrRule, a.Room, b.Room, b.Rule.Host, b.Rule.Path)
		}
	}
	return nil
}

// Find is the room that protects a request target of a host; false where none does. The
// error is ErrPath for a path that no rule can be held against.
func (m *Matcher) Find(host, target string) (Found, bool, error) {
	path, err := Normalise(target)
	if err != nil {
		return Found{}, false, err
	}
	folded := fold(path)
	for _, rules := range m.candidates(Host(host)) {
		for i := range rules {
			if rules[i].has(path, folded) {
				return Found{Room: rules[i].Room, Rule: rules[i].Rule, Path: path}, true, nil
			}
		}
	}
	return Found{Path: path}, false, nil
}

// candidates are the rules of a host, the most exact first.
func (m *Matcher) candidates(host string) [][]compiled {
	sets := make([][]compiled, 0, 4)
	bare := withoutPort(host)
	if bare != host {
		sets = append(sets, m.exact[host])
	}
	sets = append(sets, m.exact[bare])
	for i := range m.suffixes {
		if strings.HasSuffix(bare, m.suffixes[i].domain) {
			sets = append(sets, m.suffixes[i].rules)
		}
	}
	return append(sets, m.any)
}

func (c *compiled) has(path, folded string) bool {
	if !c.Rule.CaseSensitive {
		path = folded
	}
	rest, ok := strings.CutPrefix(path, c.path)
	return ok && (rest == "" || rest[0] == '/')
}

// HostMatches reports whether a rule's host covers a host.
func HostMatches(rule, host string) bool {
	host = Host(host)
	bare := withoutPort(host)
	if domain, ok := strings.CutPrefix(rule, "*"); ok {
		return strings.HasSuffix(bare, domain)
	}
	return rule == host || rule == bare
}

// Host is a host header in its normal form: lower case, no dot at the end.
func Host(host string) string {
	for i := range len(host) {
		if c := host[i]; 'A' <= c && c <= 'Z' || c >= 0x80 {
			host = strings.ToLower(host)
			break
		}
	}
	name, port := host, ""
	if bare := withoutPort(host); bare != host {
		name, port = bare, host[len(bare):]
	}
	if strings.HasSuffix(name, ".") {
		return strings.TrimSuffix(name, ".") + port
	}
	return host
}

func withoutPort(host string) string {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.HasSuffix(host, "]") {
		return host
	}
	return host[:i]
}

// fold maps letters that differ in case only to one of them (Unicode simple folding).
func fold(s string) string {
	for i := range len(s) {
		if c := s[i]; 'A' <= c && c <= 'Z' || c >= 0x80 {
			return strings.Map(foldRune, s)
		}
	}
	return s
}

// foldRune is the smallest rune of those that fold to each other, in lower case for ASCII.
func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if 'A' <= least && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}
