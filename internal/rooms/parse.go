package rooms

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/anteroom/anteroom/queue"
)

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// maxFile bounds the rooms file.
const maxFile = 1 << 20

type document struct {
	Rooms []Room `yaml:"rooms"`
}

// UnmarshalYAML remembers the line on which a room begins.
func (r *Room) UnmarshalYAML(n *yaml.Node) error {
	type plain Room // without this method
	if err := knownFields(n); err != nil {
		return err
	}
	if err := n.Decode((*plain)(r)); err != nil {
		return err
	}
	r.line = n.Line
	return nil
}

// roomFields and matchFields are the yaml tags of Room and Match: a custom decoder does
// not see the strictness of the one that called it.
var (
	roomFields = []string{
		"name", "title", "capacity", "rate", "burst", "session", "claim_window", "heartbeat", "keep_place",
		"targets", "default_target", "on_store_error", "message", "match", "origin",
	}
	matchFields = []string{"host", "path"}
)

func knownFields(n *yaml.Node) error {
	var errs []string
	check := func(n *yaml.Node, known []string) {
		for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
			if key := n.Content[i]; !contains(known, key.Value) {
				errs = append(errs, fmt.Sprintf("line %d: unknown field %q", key.Line, key.Value))
			}
		}
	}
	check(n, roomFields)
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "match" {
			for _, m := range n.Content[i+1].Content {
				check(m, matchFields)
			}
		}
	}
	if len(errs) > 0 {
		return &yaml.TypeError{Errors: errs}
	}
	return nil
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// Parse reads a rooms file. The error names every problem, each with file and line.
func Parse(file string, data []byte) ([]Room, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s: larger than %d bytes", file, maxFile)
	}
	var doc document
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, located(file, err)
	}
	if len(doc.Rooms) == 0 {
		return nil, fmt.Errorf("%s: no rooms; the file begins with a list \"rooms:\"", file)
	}
	var errs []error
	seen := map[string]int{}
	for i := range doc.Rooms {
		r := &doc.Rooms[i]
		r.setDefaults()
		problems := r.problems()
		if first, twice := seen[r.Name]; twice {
			problems = append(problems, fmt.Sprintf("name %q is taken by the room of line %d", r.Name, first))
		}
		seen[r.Name] = r.line
		for _, p := range problems {
			errs = append(errs, fmt.Errorf("%s:%d: room %q: %s", file, r.line, r.Name, p))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return doc.Rooms, nil
}

// located puts the file before each of the decoder's errors, which carry their line.
func located(file string, err error) error {
	var types *yaml.TypeError
	if !errors.As(err, &types) {
		return fmt.Errorf("%s: %w", file, err)
	}
	var errs []error
	for _, e := range types.Errors {
		errs = append(errs, fmt.Errorf("%s: %s", file, e))
	}
	return errors.Join(errs...)
}

func (r *Room) problems() []string {
	var p []string
	check := func(ok bool, format string, args ...any) {
		if !ok {
			p = append(p, fmt.Sprintf(format, args...))
		}
	}
	check(validName.MatchString(r.Name), "name must be 1 to 63 of a-z, 0-9 and -, and not begin with -")
	check(r.Capacity >= 1 && r.Capacity <= queue.MaxCapacity, "capacity is %d, want 1 to %d", r.Capacity, queue.MaxCapacity)
	check(r.Rate.Count > 0, "rate is missing: %v", ErrRate)
	check(r.Burst >= 1 && r.Burst <= queue.MaxCapacity, "burst is %d, want 1 to %d", r.Burst, queue.MaxCapacity)
	for _, d := range []struct {
		name       string
		value, min time.Duration
	}{
		{"session", r.Session, time.Second}, {"claim_window", r.ClaimWindow, time.Second},
		{"heartbeat", r.Heartbeat, 5 * time.Second}, {"keep_place", r.KeepPlace, time.Second},
	} {
		check(d.value >= d.min && d.value <= 24*time.Hour, "%s is %v, want %v to 24h", d.name, d.value, d.min)
	}
	check(r.KeepPlace >= r.Heartbeat, "keep_place (%v) is shorter than heartbeat (%v)", r.KeepPlace, r.Heartbeat)
	check(r.OnStore == Hold || r.OnStore == Admit, "on_store_error is %q, want hold or admit", r.OnStore)
	check(utf8.RuneCountInString(r.Title) <= 80, "title is longer than 80 characters")
	check(utf8.RuneCountInString(r.Message) <= 280, "message is longer than 280 characters")
	p = append(p, r.addressProblems()...)
	return p
}

func (r *Room) addressProblems() []string {
	var p []string
	for i, host := range r.Targets {
		u, err := url.Parse("http://" + host)
		if err != nil || u.Host != host || host == "" || u.Path != "" {
			p = append(p, fmt.Sprintf("target %q is not a host or host:port", host))
		}
		r.Targets[i] = strings.ToLower(host)
	}
	if u, err := url.Parse(r.Default); err != nil || !plainPath(r.Default) && !r.listed(u) {
		p = append(p, fmt.Sprintf("default_target %q is neither a path nor a URL on a host of targets", r.Default))
	}
	if r.Origin != "" {
		u, err := url.Parse(r.Origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
			p = append(p, fmt.Sprintf("origin %q is not an http or https URL", r.Origin))
		}
	}
	for _, m := range r.Match {
		if m.Host == "" || strings.ContainsAny(m.Host, "/ @") || !plainPath(m.Path) {
			p = append(p, fmt.Sprintf("match %q %q needs a host and a path that begins with /", m.Host, m.Path))
		}
	}
	return p
}

// plainPath is a path on the same host: one slash, not followed by another or by \.
func plainPath(s string) bool {
	return strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "//") && !strings.ContainsAny(s, "\\\t\r\n")
}

func (r *Room) listed(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && contains(r.Targets, strings.ToLower(u.Host))
}
