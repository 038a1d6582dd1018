package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	maxFile     = 1 << 20 // bytes
	maxPolicies = 1000    // also bounds the labels of metrics
	maxRules    = 8       // of a policy
)

// ErrFile is wrapped by every complaint about a file.
var ErrFile = errors.New("policy: unusable file")

// Open reads a file. The error is Parse's, or says why the file cannot be read.
func Open(name string) ([]*Policy, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	return Parse(name, data)
}

// Parse reads policies. Name is the file's for messages. The error wraps ErrFile and names
// every problem at once, each as "name:line: what is wrong".
func Parse(name string, data []byte) ([]*Policy, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("%w: %s: larger than %d bytes", ErrFile, name, maxFile)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	if err := decoder.Decode(&first); err != nil && !errors.Is(err, io.EOF) {
		return nil, syntaxError(name, err)
	}
	f := fileReader{names: map[string]int{}}
	switch err := decoder.Decode(&second); {
	case err == nil:
		f.problem(second.Line, "a second document; the file holds one list of policies")
	case !errors.Is(err, io.EOF):
		return nil, syntaxError(name, err)
	}
	all := f.document(&first)
	if len(f.problems) > 0 {
		return nil, f.err(name)
	}
	return all, nil
}

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)

// syntaxError has the line where the torn part begins, at times one too early.
func syntaxError(name string, err error) error {
	text := err.Error()
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%w: %s:%s: not YAML, here or below: %s", ErrFile, name, m[1], text[len(m[0]):])
	}
	return fmt.Errorf("%w: %s: not YAML: %s", ErrFile, name, strings.TrimPrefix(text, "yaml: "))
}

// fileReader walks nodes, not structs, so that each problem has the line of its field and
// none hides another.
type fileReader struct {
	problems []problem
	names    map[string]int // line of each policy
}

type problem struct {
	line int
	text string
}

func (f *fileReader) problem(line int, format string, args ...any) {
	f.problems = append(f.problems, problem{max(line, 1), fmt.Sprintf(format, args...)})
}

func (f *fileReader) err(name string) error {
	slices.SortStableFunc(f.problems, func(a, b problem) int { return a.line - b.line })
	lines := make([]string, len(f.problems))
	for i, p := range f.problems {
		lines[i] = fmt.Sprintf("%s:%d: %s", name, p.line, p.text)
	}
	return fmt.Errorf("%w: %s", ErrFile, strings.Join(lines, "\n"))
}

func (f *fileReader) document(n *yaml.Node) (all []*Policy) {
	if n.Kind == yaml.DocumentNode && len(n.Content) == 1 {
		n = n.Content[0]
	}
	given := false
	if n.Kind != 0 && n.Tag != "!!null" {
		f.mapping(n, "the file", func(key, value *yaml.Node) {
			if key.Value != "policies" {
				f.problem(key.Line, "unknown field %q; the only one at the top is policies", key.Value)
				return
			}
			given = true
			f.sequence(value, "policies", maxPolicies, func(item *yaml.Node) { all = append(all, f.policy(item)) })
		})
	}
	if !given && len(f.problems) == 0 {
		f.problem(n.Line, `no policies; the file begins with a list "policies:"`)
	}
	return all
}

// mapping calls visit for each field, and reports what is no mapping, fields that come twice
// and fields without a value.
func (f *fileReader) mapping(n *yaml.Node, what string, visit func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		f.problem(n.Line, "%s must be fields with values", what)
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], resolved(n.Content[i+1])
		if line, twice := seen[key.Value]; twice {
			f.problem(key.Line, "%s has %q twice, first in line %d", what, key.Value, line)
			continue
		}
		seen[key.Value] = key.Line
		if value.Tag == "!!null" {
			f.problem(key.Line, "%s has no value", key.Value)
			continue
		}
		visit(key, value)
	}
}

// sequence calls visit for each of 1 to most items.
func (f *fileReader) sequence(n *yaml.Node, what string, most int, visit func(item *yaml.Node)) {
	switch {
	case n.Kind != yaml.SequenceNode:
		f.problem(n.Line, "%s must be a list", what)
	case len(n.Content) == 0:
		f.problem(n.Line, "%s is empty", what)
	case len(n.Content) > most:
		f.problem(n.Line, "%s has %d items, want at most %d", what, len(n.Content), most)
	default:
		for _, item := range n.Content {
			visit(resolved(item))
		}
	}
}

// resolved is what an alias stands for.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
