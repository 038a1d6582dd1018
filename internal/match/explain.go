package match

import (
	"fmt"
	"slices"
)

// Tried is one rule that was held against an address.
type Tried struct {
	Entry Entry
	// Applies is true where the rule covers the address; the first of these was chosen.
	Applies bool
	Why     string
}

// Explanation says how an address found its room.
type Explanation struct {
	Host, Path string // normalised; the root is "/"
	Found      Found
	OK         bool
	Tried      []Tried // those that apply by their rank, then the others in the order of New
}

// Explain is Find with its reasons.
func (m *Matcher) Explain(host, target string) (Explanation, error) {
	found, ok, err := m.Find(host, target)
	if err != nil {
		return Explanation{}, err
	}
	h, _ := readHost(host) // Find has read it
	e := Explanation{Path: found.Path, Found: found, OK: ok}
	e.Host, _ = Host(host)
	if e.Path == "" {
		e.Path = "/"
	}
	var apply, lost []*compiled
	for _, c := range m.rules {
		if c.ofHost(h) && c.covers(found.Path) {
			apply = append(apply, c)
		} else {
			lost = append(lost, c)
		}
	}
	slices.SortStableFunc(apply, func(a, b *compiled) int { return b.against(a) })
	for i, c := range apply {
		why := "it has the most exact host and the longest path"
		if i > 0 {
			why = fmt.Sprintf("another rule has a more exact host or a longer path: %v", apply[0].Rule)
		}
		e.Tried = append(e.Tried, Tried{Entry: c.Entry, Applies: true, Why: why})
	}
	for _, c := range lost {
		e.Tried = append(e.Tried, Tried{Entry: c.Entry, Why: c.whyNot(h, found.Path)})
	}
	return e, nil
}

// whyNot says why a rule does not apply.
func (c *compiled) whyNot(h hostPort, path string) string {
	folded := *c
	folded.Rule.CaseSensitive = false
	switch {
	case !c.ofHost(h):
		return "it is of another host"
	case folded.covers(path):
		return fmt.Sprintf("the path is not under %s: the rule is case-sensitive", c.Rule.Path)
	}
	return fmt.Sprintf("the path is not under %s", c.Rule.Path)
}
