package match

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Rule is what a room protects: the requests to a host below a path.
type Rule struct {
	// Host is in lower case: shop.example (any port of it), shop.example:8443,
	// *.shop.example (each subdomain, however deep, not shop.example itself; a port may
	// follow) or * (any host, none included). :80 and :443 also match a host without a
	// port, because browsers leave those two out.
	Host string
	// Path is a prefix by whole segments: /sale is /sale, /sale/ and /sale/x, never
	// /salesman; / is everything.
	Path string
	// CaseSensitive makes /Sale another path than /sale. By default case is folded
	// (Unicode simple folding), because that protects more.
	CaseSensitive bool
}

// String is the rule as one would write it, for messages.
func (r Rule) String() string {
	if r.CaseSensitive {
		return r.Host + r.Path + " (case-sensitive)"
	}
	return r.Host + r.Path
}

// Entry is a rule and the room that it belongs to.
type Entry struct {
	Room string
	Rule Rule
}

func (e Entry) String() string { return fmt.Sprintf("room %q, rule %v", e.Room, e.Rule) }

// ErrRule is wrapped by every error of New.
var ErrRule = errors.New("match: bad rule")

// EntryError is one thing that is wrong with the entries of a Matcher.
type EntryError struct {
	Entry Entry
	Index int // of the entry in what New was given
	Tie   int // index of the earlier entry that it ties with, -1 = none
	Err   error
}

func (e *EntryError) Error() string { return fmt.Sprintf("%v: %v: %v", ErrRule, e.Entry, e.Err) }

// Unwrap is ErrRule and what is wrong, without the entry.
func (e *EntryError) Unwrap() []error { return []error{ErrRule, e.Err} }

// Found is what Find says of a request.
type Found struct {
	Room string // "" = no room protects it
	Rule Rule   // the rule that decided, as it was given to New
	Path string // normalised; "" is the root
	// Odd means that the path was written as no browser writes it (encoded letters,
	// parameters, doubled slashes, dots …), so that another router may see another page.
	Odd bool
	// Dir means that the path ended in a slash, which Path has no more.
	Dir bool
}

// compiled is a rule made ready to compare.
type compiled struct {
	Entry
	index    int
	host     hostPort // of a wildcard: what follows "*."
	class    hostClass
	segments []string // normalised
}

// hostClass says how exact a rule is about the host; more is more exact.
type hostClass int

const (
	anyHost hostClass = iota
	wildHost
	exactHost
	portHost
)

// Matcher finds the room of a request. It is safe for concurrent use.
type Matcher struct {
	exact map[hostPort][]*compiled // with and without a port; longest path first
	wild  map[hostPort][]*compiled // by what follows "*."
	any   []*compiled
	rules []*compiled // in the order of New
	// bare says that some rule has port 80 or 443, and so may match a host without one.
	bare bool
}

// New makes a Matcher. Its error joins one *EntryError for each entry that is no sound
// rule or that ties with an earlier one: same host, and some path is below both at the same
// depth.
func New(entries []Entry) (*Matcher, error) {
	m := &Matcher{exact: map[hostPort][]*compiled{}, wild: map[hostPort][]*compiled{}}
	var errs []error
	for i, e := range entries {
		c, err := compile(i, e)
		if err != nil {
			errs = append(errs, &EntryError{Entry: e, Index: i, Tie: -1, Err: err})
			continue
		}
		if other := m.tie(c); other != nil {
			err := fmt.Errorf("it ties with %v", other.Entry)
			errs = append(errs, &EntryError{Entry: e, Index: i, Tie: other.index, Err: err})
			continue
		}
		m.add(c)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return m, nil
}

func compile(index int, e Entry) (*compiled, error) {
	c := &compiled{Entry: e, index: index}
	var err error
	if c.class, c.host, err = ruleHost(e.Rule.Host); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(e.Rule.Path, "/") || strings.ContainsAny(e.Rule.Path, "?#") {
		return nil, errors.New("its path must begin with / and have no query")
	}
	r, err := read(e.Rule.Path)
	if err != nil {
		return nil, err
	}
	if r.hard || r.dots {
		return nil, fmt.Errorf("its path must be written plainly, such as %s", r.path)
	}
	if r.path != "" {
		c.segments = strings.Split(r.path[1:], "/")
	}
	return c, nil
}

// bucket is where the rules for the host of c are kept.
func (m *Matcher) bucket(c *compiled) []*compiled {
	switch c.class {
	case anyHost:
		return m.any
	case wildHost:
		return m.wild[c.host]
	default:
		return m.exact[c.host]
	}
}

func (m *Matcher) add(c *compiled) {
	bucket := append(m.bucket(c), c)
	slices.SortStableFunc(bucket, func(a, b *compiled) int { return cmp.Compare(len(b.segments), len(a.segments)) })
	switch c.class {
	case anyHost:
		m.any = bucket
	case wildHost:
		m.wild[c.host] = bucket
	default:
		m.exact[c.host] = bucket
	}
	m.rules = append(m.rules, c)
	m.bare = m.bare || c.host.port == "80" || c.host.port == "443"
}

// tie is a rule that some path cannot be told from c by, nil = none.
func (m *Matcher) tie(c *compiled) *compiled {
	for _, o := range m.bucket(c) {
		same := strings.EqualFold
		if o.Rule.CaseSensitive && c.Rule.CaseSensitive {
			same = func(a, b string) bool { return a == b }
		}
		if slices.EqualFunc(o.segments, c.segments, same) {
			return o
		}
	}
	return nil
}

// Find says which room protects a request. Host is the Host header or what a trusted
// proxy says in its place; rawPath is the request target as it came, neither decoded nor
// cleaned. The most specific rule wins: a host with its port before the host before the
// longest wildcard before *, then the longest path in segments.
//
// It reports false where no room protects the request; Found.Path is set all the same. An
// error is ErrPath or ErrHost: no sound request has it, and the answer is 400, because
// what is behind might read the request in a way that we cannot foresee.
func (m *Matcher) Find(host, rawPath string) (Found, bool, error) {
	h, err := readHost(host)
	if err != nil {
		return Found{}, false, err
	}
	r, err := read(rawPath)
	if err != nil {
		return Found{}, false, err
	}
	if err := r.sameHost(h); err != nil {
		return Found{}, false, err
	}
	f := Found{Path: r.path, Odd: r.odd, Dir: r.dir}
	c := m.lookup(h, r.path)
	if r.dots && r.hard && m.others(h, c) {
		return Found{}, false, fmt.Errorf("%w: it has .. among things that servers read differently, and the host has other rooms or pages without one", ErrPath)
	}
	if r.differs {
		if o := m.lookup(h, r.other); o != nil && (c == nil || o.Room != c.Room && o.against(c) >= 0) {
			return Found{}, false, fmt.Errorf("%w: some servers read it as %s, others as %s, which is in another room", ErrPath, r.path+"/", r.other+"/")
		}
	}
	if c == nil {
		return f, false, nil
	}
	f.Room, f.Rule = c.Room, c.Rule
	return f, true, nil
}

// others reports whether a rule of the host leads to another room than that of c. Where a
// path has .. and servers split it into other segments, each rule of the host may be meant.
func (m *Matcher) others(h hostPort, c *compiled) bool {
	return slices.ContainsFunc(m.rules, func(o *compiled) bool { return (c == nil || o.Room != c.Room) && o.ofHost(h) })
}

// lookup is the most specific rule for a host and a normalised path, nil = none.
func (m *Matcher) lookup(h hostPort, path string) *compiled {
	if c := m.ported(m.exact, h, path); c != nil {
		return c
	}
	for rest := h.name; len(m.wild) > 0; {
		_, parent, ok := strings.Cut(rest, ".")
		if !ok {
			break
		}
		if c := m.ported(m.wild, hostPort{parent, h.port}, path); c != nil {
			return c
		}
		rest = parent
	}
	return first(m.any, path)
}

// ported looks under a host with its port, then under the host alone.
func (m *Matcher) ported(by map[hostPort][]*compiled, h hostPort, path string) *compiled {
	if h.port != "" {
		if c := first(by[h], path); c != nil {
			return c
		}
	} else if m.bare {
		for _, port := range []string{"443", "80"} {
			if c := first(by[hostPort{h.name, port}], path); c != nil {
				return c
			}
		}
	}
	return first(by[hostPort{name: h.name}], path)
}

func first(bucket []*compiled, path string) *compiled {
	for _, c := range bucket {
		if c.covers(path) {
			return c
		}
	}
	return nil
}

// covers reports whether a normalised path is the rule's or below it.
func (c *compiled) covers(path string) bool {
	rest := strings.TrimPrefix(path, "/")
	for _, want := range c.segments {
		got, after, _ := strings.Cut(rest, "/")
		if got != want && (c.Rule.CaseSensitive || !strings.EqualFold(got, want)) {
			return false
		}
		rest = after
	}
	return true
}

// against compares how specific two rules that match the same host are.
func (c *compiled) against(o *compiled) int {
	return cmp.Or(cmp.Compare(c.class, o.class), cmp.Compare(len(c.host.name), len(o.host.name)), cmp.Compare(len(c.host.port), len(o.host.port)), cmp.Compare(len(c.segments), len(o.segments)))
}

// ofHost reports whether a host is the rule's.
func (c *compiled) ofHost(h hostPort) bool {
	port := c.host.port == "" || c.host.port == h.port || h.port == "" && (c.host.port == "443" || c.host.port == "80")
	switch c.class {
	case anyHost:
		return true
	case wildHost:
		return port && strings.HasSuffix(h.name, "."+c.host.name)
	default:
		return port && c.host.name == h.name
	}
}
