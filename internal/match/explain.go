package match

import "fmt"

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
	Tried      []Tried // in the order of their rank, then those of other hosts
}

// Explain is Find with its reasons.
func (m *Matcher) Explain(host, target string) (Explanation, error) {
	found, ok, err := m.Find(host, target)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Host: Host(host), Path: found.Path, Found: found, OK: ok}
	if e.Path == "" {
		e.Path = "/"
	}
	seen := map[Entry]bool{}
	for _, rules := range m.candidates(e.Host) {
		for _, c := range rules {
			seen[c.Entry] = true
			t := Tried{Entry: c.Entry, Applies: c.has(found.Path, fold(found.Path))}
			switch {
			case !t.Applies:
				t.Why = fmt.Sprintf("the path is not under %s", c.Rule.Path)
			case ok && c.Entry == (Entry{found.Room, found.Rule}):
				t.Why = "it has the most exact host and the longest path"
			default:
				t.Why = "another rule has a more exact host or a longer path"
			}
			e.Tried = append(e.Tried, t)
		}
	}
	for _, entry := range m.entries {
		if !seen[entry] {
			e.Tried = append(e.Tried, Tried{Entry: entry, Why: "it is of another host"})
		}
	}
	return e, nil
}
