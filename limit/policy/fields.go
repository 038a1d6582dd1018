package policy

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/anteroom/anteroom/limit"
)

var (
	validName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,30}$`)
	// validHeader is a token of RFC 9110.
	validHeader = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	validRate   = regexp.MustCompile(`^(\d+)/(\d*)(ms|s|m|h|d)$`)
	units       = map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
)

func (f *fileReader) policy(n *yaml.Node) *Policy {
	p := &Policy{Direction: Inbound, Mode: Enforce}
	var rules *yaml.Node
	lines, before := map[string]int{}, len(f.problems)
	f.mapping(n, "a policy", func(key, value *yaml.Node) {
		lines[key.Value] = value.Line
		switch key.Value {
		case "name":
			f.name(value, "", f.names, &p.Name)
		case "direction":
			choice(f, value, key.Value, &p.Direction, Inbound, Outbound)
		case "mode":
			choice(f, value, key.Value, &p.Mode, Enforce, Shadow)
		case "on_store_error":
			choice(f, value, key.Value, &p.OnStore, FailOpen, FailClosed, Local)
		case "share":
			f.share(value, &p.Share)
		case "rules":
			rules = value
		default:
			f.problem(key.Line, "unknown field %q of a policy; want name, direction, mode, on_store_error, share or rules", key.Value)
		}
	})
	for _, field := range []string{"name", "on_store_error", "rules"} {
		if lines[field] == 0 && len(f.problems) == before {
			f.problem(n.Line, "%s is missing; a policy needs name, on_store_error and rules", field)
		}
	}
	if len(f.problems) == before && (p.OnStore == Local) != (lines["share"] > 0) {
		f.problem(max(lines["share"], lines["on_store_error"]), "share and on_store_error: local need each other")
	}
	if rules != nil {
		names := map[string]int{}
		f.sequence(rules, "rules", maxRules, func(item *yaml.Node) { p.Rules = append(p.Rules, f.rule(item, p, names)) })
	}
	return p
}

// rule reads one rule. limit.New has the last word, at the line of the field it names.
func (f *fileReader) rule(n *yaml.Node, p *Policy, names map[string]int) (out Rule) {
	rule := limit.Rule{MaxCost: 1}
	lines, before := map[string]int{}, len(f.problems)
	f.mapping(n, "a rule", func(key, value *yaml.Node) {
		lines[key.Value] = value.Line
		switch key.Value {
		case "name":
			f.name(value, p.Name+"_", names, &rule.Name)
		case "key":
			out.Parts = f.parts(value)
		case "algorithm":
			choice(f, value, key.Value, &rule.Algorithm, limit.Algorithms()...)
		case "rate":
			f.rate(value, &rule.Rate)
		case "burst":
			f.whole(value, key.Value, &rule.Burst)
		case "max_cost":
			f.whole(value, key.Value, &rule.MaxCost)
		case "record_denied":
			if value.Tag != "!!bool" || value.Decode(&rule.RecordDenied) != nil {
				f.problem(value.Line, "record_denied is %q, want true or false", value.Value)
			}
		default:
			f.problem(key.Line, "unknown field %q of a rule; want name, key, algorithm, rate, burst, max_cost or record_denied", key.Value)
		}
	})
	for _, field := range []string{"name", "key", "algorithm", "rate", "burst"} {
		if n.Kind == yaml.MappingNode && lines[field] == 0 && !f.named(n, field) {
			f.problem(n.Line, "%s is missing; a rule needs name, key, algorithm, rate and burst", field)
		}
	}
	if len(f.problems) > before {
		return out
	}
	var err error
	if out.Limit, err = limit.New(rule); err != nil {
		f.problem(n.Line, "%v", err)
	} else if p.OnStore == Local && p.Share > 0 {
		if out.Local, err = scaled(rule, p.Share); err != nil {
			f.problem(n.Line, "a share of %v: %v", p.Share, err)
		}
	}
	return out
}

// named tells whether a field is there without a value, which was reported.
func (f *fileReader) named(n *yaml.Node, field string) bool {
	return slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return c.Value == field })
}

func (f *fileReader) name(n *yaml.Node, prefix string, seen map[string]int, out *string) {
	switch line, twice := seen[n.Value]; {
	case n.Kind != yaml.ScalarNode || !validName.MatchString(n.Value):
		f.problem(n.Line, "name is %q, want [a-z0-9][a-z0-9-]{0,30}", n.Value)
	case twice:
		f.problem(n.Line, "name %q is taken, by line %d", n.Value, line)
	default:
		seen[n.Value] = n.Line
		*out = prefix + n.Value
	}
}

func choice[T ~string](f *fileReader, n *yaml.Node, field string, out *T, all ...T) {
	if n.Kind != yaml.ScalarNode || !slices.Contains(all, T(n.Value)) {
		f.problem(n.Line, "%s is %q, want one of %v", field, n.Value, all)
		return
	}
	*out = T(n.Value)
}

// whole reads a positive integer in plain digits.
func (f *fileReader) whole(n *yaml.Node, field string, out *int64) {
	v, err := strconv.ParseInt(n.Value, 10, 64)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || err != nil || v < 1 {
		f.problem(n.Line, "%s is %q, want a whole number from 1", field, n.Value)
		return
	}
	*out = v
}

func (f *fileReader) share(n *yaml.Node, out *float64) {
	v, err := strconv.ParseFloat(n.Value, 64)
	if n.Kind != yaml.ScalarNode || err != nil || math.IsNaN(v) || v < 0.001 || v > 1 {
		f.problem(n.Line, "share is %q, want 0.001 to 1, such as 0.25 for four servers", n.Value)
		return
	}
	*out = v
}

func (f *fileReader) rate(n *yaml.Node, out *limit.Rate) {
	r, err := parseRate(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		f.problem(n.Line, "rate is %q, want count/duration such as 100/1m, in ms, s, m, h or d", n.Value)
		return
	}
	*out = r
}

var errRate = errors.New("no rate")

// parseRate reads 100/1m; 100/m is the same.
func parseRate(text string) (limit.Rate, error) {
	m := validRate.FindStringSubmatch(text)
	if m == nil {
		return limit.Rate{}, errRate
	}
	count, err := strconv.ParseInt(m[1], 10, 64)
	times := int64(1)
	if m[2] != "" && err == nil {
		times, err = strconv.ParseInt(m[2], 10, 32)
	}
	if err != nil || count < 1 || times < 1 || times > int64(math.MaxInt64/units[m[3]]) {
		return limit.Rate{}, errRate
	}
	return limit.Rate{Count: count, Per: time.Duration(times) * units[m[3]]}, nil
}

func (f *fileReader) parts(n *yaml.Node) (out []Part) {
	f.sequence(n, "key", 4, func(item *yaml.Node) {
		part, err := parsePart(item.Value)
		switch {
		case item.Kind != yaml.ScalarNode || err != nil:
			f.problem(item.Line, "key has %q, want address, user, tenant, room, ticket, header:<Name>, or global alone", item.Value)
		case slices.Contains(out, part):
			f.problem(item.Line, "key has %s twice", part)
		case part == Global && len(n.Content) > 1:
			f.problem(item.Line, "key has global and others; global stands alone")
		}
		out = append(out, part)
	})
	return out
}

func parsePart(text string) (Part, error) {
	if name, ok := cutHeader(text); ok {
		if !validHeader.MatchString(name) || len(name) > 100 {
			return "", fmt.Errorf("%q is no header", name)
		}
		return HeaderPrefix + Part(http.CanonicalHeaderKey(name)), nil
	}
	switch part := Part(text); part {
	case Address, User, Tenant, Room, Ticket, Global:
		return part, nil
	}
	return "", fmt.Errorf("%q is no part", text)
}

func cutHeader(text string) (string, bool) {
	if len(text) > len(HeaderPrefix) && text[:len(HeaderPrefix)] == HeaderPrefix {
		return text[len(HeaderPrefix):], true
	}
	return "", false
}
