package rooms

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/anteroom/anteroom/internal/match"
)

// maxFile bounds the rooms file, in bytes.
const maxFile = 1 << 20

// Parse reads a rooms file. Name is the file's name for messages. The error names every
// problem at once, each as "name:line: what is wrong". A field without a value counts as
// not given.
func Parse(name string, data []byte) ([]Room, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s: larger than %d bytes", name, maxFile)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	if err := decoder.Decode(&first); err != nil && !errors.Is(err, io.EOF) {
		return nil, syntaxError(name, err)
	}
	err := decoder.Decode(&second)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, syntaxError(name, err)
	}
	f := fileReader{names: map[string]int{}, matches: map[match.Rule]int{}}
	if err == nil {
		f.problem(second.Line, "a second document; the file holds one list of rooms")
	}
	all := f.document(&first)
	if len(f.problems) > 0 {
		return nil, f.err(name)
	}
	return all, nil
}

// yamlLine is where the YAML reader says a line, if it does.
var yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)

// syntaxError writes what the YAML reader says as all other problems are written, so that
// editors and people find the line. It is where the torn part begins, at times one too early.
func syntaxError(name string, err error) error {
	text := err.Error()
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s:%s: not YAML, here or below: %s", name, m[1], text[len(m[0]):])
	}
	return fmt.Errorf("%s: not YAML: %s", name, strings.TrimPrefix(text, "yaml: "))
}

// problem is one thing that is wrong in a file.
type problem struct {
	line int
	text string
}

// fileReader walks a file's nodes and collects problems. It reads nodes, not structs,
// so that each problem has the line of its field, a wrong value hides no other problem,
// and a zero that was written is told from a field that was not given.
type fileReader struct {
	problems []problem
	names    map[string]int     // line of each room
	matches  map[match.Rule]int // line of each match rule
	rules    []int              // lines of all match rules, in the order of the file
}

func (f *fileReader) problem(line int, format string, args ...any) {
	f.problems = append(f.problems, problem{max(line, 1), fmt.Sprintf(format, args...)})
}

func (f *fileReader) err(name string) error {
	slices.SortStableFunc(f.problems, func(a, b problem) int { return a.line - b.line })
	errs := make([]error, len(f.problems))
	for i, p := range f.problems {
		errs[i] = fmt.Errorf("%s:%d: %s", name, p.line, p.text)
	}
	return errors.Join(errs...)
}

func (f *fileReader) document(n *yaml.Node) []Room {
	if n.Kind == yaml.DocumentNode && len(n.Content) == 1 {
		n = n.Content[0]
	}
	const want = `no rooms; the file begins with a list "rooms:"`
	if n.Kind == 0 || isNull(n) {
		f.problem(n.Line, want)
		return nil
	}
	var all []Room
	given := false
	f.mapping(n, "the file", func(key, value *yaml.Node) {
		if key.Value != "rooms" {
			f.problem(key.Line, "unknown field %q; the only one at the top is rooms", key.Value)
			return
		}
		given = true
		if isNull(value) || value.Kind == yaml.SequenceNode && len(value.Content) == 0 {
			f.problem(key.Line, "rooms is empty")
		}
		f.sequence(value, "rooms", func(item *yaml.Node) { all = append(all, f.room(item)) })
	})
	if !given && len(f.problems) == 0 {
		f.problem(n.Line, want)
	}
	if len(f.problems) == 0 {
		f.ties(all)
	}
	return all
}

// ties reports rules that each by itself are sound, and together are not.
func (f *fileReader) ties(all []Room) {
	_, err := Matcher(all)
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return
	}
	for _, one := range joined.Unwrap() {
		var e *match.EntryError
		if errors.As(one, &e) && e.Tie >= 0 {
			f.problem(f.rules[e.Index], "%v, in line %d", e, f.rules[e.Tie])
		}
	}
}

// mapping calls visit for each key and value, and reports what is no mapping and keys
// that come twice.
func (f *fileReader) mapping(n *yaml.Node, what string, visit func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		f.problem(n.Line, "%s must be fields with values", what)
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if line, twice := seen[key.Value]; twice {
			f.problem(key.Line, "%s has %q twice, first in line %d", what, key.Value, line)
			continue
		}
		seen[key.Value] = key.Line
		visit(key, resolved(n.Content[i+1]))
	}
}

// sequence calls visit for each item, and reports what is neither a list nor nothing.
func (f *fileReader) sequence(n *yaml.Node, what string, visit func(item *yaml.Node)) {
	if isNull(n) {
		return
	}
	if n.Kind != yaml.SequenceNode {
		f.problem(n.Line, "%s must be a list", what)
		return
	}
	for _, item := range n.Content {
		visit(resolved(item))
	}
}

// resolved is what an alias stands for.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }
