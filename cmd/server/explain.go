package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/anteroom/anteroom/internal/config"
	"github.com/anteroom/anteroom/internal/match"
	"github.com/anteroom/anteroom/internal/rooms"
	"github.com/anteroom/anteroom/pass"
)

const explainUsage = `server explain - which room protects an address, and why

USAGE
  server explain [--rooms FILE] [--method METHOD] [--header 'Name: value']… URL

DESCRIPTION
  Says what the gate makes of a request: the path that rules are held against, the room
  and the rule that won, whether the request is exempt, and for each other rule why it did
  not win. It reads the rooms file and nothing else; no server needs to run.

  The path of the URL counts as it is written, neither decoded nor cleaned. Quote it
  for the shell.

FLAGS
`

const explainExamples = `
EXAMPLE
  server explain --rooms rooms.yaml --header 'Sec-Fetch-Dest: image' 'https://shop.example/sale/x.png'

EXIT STATUS
  0  explained    2  no http or https URL, or a bad rooms file
`

// question is what explain is asked.
type question struct {
	file         string // the rooms file
	url          string // as it was given
	host, target string // of url, not decoded
	method       string
	header       http.Header
}

// explain answers args on out. Its errors are config.ErrUsage, or come from out.
func explain(args []string, env func(string) string, out io.Writer) error {
	q, err := parseQuestion(args, env, out)
	if err != nil {
		return err
	}
	registry, err := rooms.Open(q.file)
	if err != nil {
		return fmt.Errorf("%w: --rooms: %w", config.ErrUsage, err)
	}
	var b strings.Builder
	q.answer(&b, registry)
	_, err = io.WriteString(out, b.String())
	return err
}

func parseQuestion(args []string, env func(string) string, out io.Writer) (question, error) {
	q := question{header: http.Header{}}
	fs := pflag.NewFlagSet("server explain", pflag.ContinueOnError)
	fs.SetOutput(out)
	fs.SortFlags = false
	fs.StringVar(&q.file, "rooms", env(config.EnvName("rooms")), "rooms file (YAML)")
	fs.StringVar(&q.method, "method", http.MethodGet, "method of the request")
	headers := fs.StringArray("header", nil, "a header of the request, such as 'Sec-Fetch-Dest: image'; may come again")
	fs.Usage = func() { _, _ = fmt.Fprint(out, explainUsage+fs.FlagUsages()+explainExamples) }
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return q, err
		}
		return q, fmt.Errorf("%w: %w", config.ErrUsage, err)
	}
	var problems []string
	if q.file == "" {
		problems = append(problems, "--rooms is missing: the demo room protects no address")
	}
	if q.url = strings.Join(fs.Args(), " "); fs.NArg() != 1 || !q.split() {
		problems = append(problems, fmt.Sprintf("%q is not one http or https URL, such as https://shop.example/sale", q.url))
	}
	q.method = strings.ToUpper(q.method)
	for _, h := range *headers {
		name, value, ok := strings.Cut(h, ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			problems = append(problems, fmt.Sprintf("--header is %q, want 'Name: value'", h))
			continue
		}
		q.header.Add(name, strings.TrimSpace(value))
	}
	return q, config.Refuse(problems)
}

// split takes the URL apart without decoding it: how it is written is what rules must
// stand. net/url looks only at the part before the path.
func (q *question) split() bool {
	whole, _, _ := strings.Cut(q.url, "#") // browsers keep the fragment
	scheme, rest, ok := strings.Cut(whole, "://")
	end := strings.IndexAny(rest, `/?\`)
	if end < 0 {
		end = len(rest)
	}
	u, err := url.Parse(scheme + "://" + rest[:end])
	if !ok || err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return false
	}
	q.host, q.target = rest[:end], rest[end:]
	if !strings.HasPrefix(q.target, "/") {
		q.target = "/" + strings.TrimPrefix(q.target, `\`) // as browsers do
	}
	return true
}

// answer writes what the gate would make of the request.
func (q *question) answer(out *strings.Builder, registry *rooms.Registry) {
	fmt.Fprintf(out, "request   %s %s\n", q.method, q.url)
	e, err := registry.Matcher().Explain(q.host, q.target)
	if err != nil {
		fmt.Fprintf(out, "answer    400: %v\n", err)
		return
	}
	fmt.Fprintf(out, "host      %s\npath      %s\n", e.Host, e.Path)
	room, ok := registry.Get(e.Found.Room)
	switch {
	case !e.OK || !ok:
		fmt.Fprint(out, "room      none: no rule applies\nanswer    everybody passes\n")
	default:
		fmt.Fprintf(out, "room      %s, by the rule %s\n", room.Name, written(e.Found.Rule))
		q.verdict(out, room, e.Found)
	}
	if len(e.Tried) == 0 {
		return
	}
	fmt.Fprint(out, "\nrules\n")
	width := 0
	for _, t := range e.Tried {
		width = max(width, len(t.Entry.Room+written(t.Entry.Rule)))
	}
	won := slices.IndexFunc(e.Tried, func(t match.Tried) bool { return t.Applies })
	for i, t := range e.Tried {
		mark := " "
		if i == won {
			mark = ">"
		}
		name := t.Entry.Room + "  " + written(t.Entry.Rule)
		fmt.Fprintf(out, "%s %-*s  %s\n", mark, width+2, name, t.Why)
	}
}

// verdict says what becomes of a request in its room.
func (q *question) verdict(out *strings.Builder, room rooms.Room, found match.Found) {
	// The order is the gate's.
	why, exempt := "a CORS preflight", pass.Preflight(&http.Request{Method: q.method, Header: q.header})
	if !exempt {
		why, exempt = q.exempt(room, found)
	}
	if exempt {
		fmt.Fprintf(out, "exempt    yes: %s\n", why)
	} else {
		fmt.Fprint(out, "exempt    no\n")
	}
	if room.Enabled {
		fmt.Fprint(out, "enabled   yes\n")
	} else {
		fmt.Fprint(out, "enabled   no\n")
	}
	switch {
	case !room.Enabled:
		fmt.Fprint(out, "answer    everybody passes, because the room is not enabled\n")
	case exempt:
		fmt.Fprint(out, "answer    it passes without a turn, because it is exempt\n")
	default:
		fmt.Fprint(out, "answer    it needs a pass; who has none gets the queue page\n")
	}
}

// exempt says what of the room's settings lets the request through without a pass.
func (q *question) exempt(room rooms.Room, found match.Found) (string, bool) {
	fetch := match.Fetch{Mode: q.header.Get("Sec-Fetch-Mode"), Dest: q.header.Get("Sec-Fetch-Dest")}
	return room.Exempt.Covers(q.method, found, fetch)
}

// written is a rule as messages have it.
func written(r match.Rule) string {
	if r.CaseSensitive {
		return r.Host + r.Path + " (case-sensitive)"
	}
	return r.Host + r.Path
}
