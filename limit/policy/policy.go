package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/anteroom/anteroom/limit"
	"github.com/anteroom/anteroom/limit/clientkey"
)

// Direction says who asks.
type Direction string

// The directions.
const (
	Inbound  Direction = "inbound"  // others call us: too much is refused
	Outbound Direction = "outbound" // we call others: too much waits
)

// Mode says what a refusal does.
type Mode string

// The modes.
const (
	Enforce Mode = "enforce" // refuses
	Shadow  Mode = "shadow"  // counts, and lets through
)

// OnStoreError says what happens while the store is away.
type OnStoreError string

// The choices. There is no default: none of them fits every door.
const (
	FailOpen   OnStoreError = "fail_open"   // everybody passes, uncounted
	FailClosed OnStoreError = "fail_closed" // nobody passes
	Local      OnStoreError = "local"       // each process limits by itself, to a share
)

// Part is a part of a key: one of the constants, or HeaderPrefix and a header's name.
type Part string

// The parts of keys.
const (
	Address Part = "address"
	User    Part = "user"
	Tenant  Part = "tenant"
	Room    Part = "room"
	Ticket  Part = "ticket"
	Global  Part = "global" // one key for all; stands alone

	// HeaderPrefix goes before a header's name in canonical form, as in header:X-Api-Key.
	HeaderPrefix = "header:"
)

// ErrPart means that a part of a key has no usable value.
var ErrPart = errors.New("policy: a part of the key is missing")

// Policy is some rules that decide together. It is read-only.
type Policy struct {
	Name      string
	Direction Direction
	Mode      Mode
	OnStore   OnStoreError
	Share     float64 // of rate and burst that a process gives while the store is away; Local only
	Rules     []Rule  // narrowest first
}

// Rule is one limit and what it counts by.
type Rule struct {
	Limit *limit.Limit
	Local *limit.Limit // what one process gives while the store is away; Local only
	Parts []Part
}

// Values gives a part of a key its value. Empty means that there is none.
type Values func(Part) string

// Checks are what the policy asks a store of a call. Values become hashes, and an address
// counts by its network. The error wraps ErrPart.
func (p *Policy) Checks(keys *clientkey.Keys, values Values, cost int64) ([]limit.Check, error) {
	checks := make([]limit.Check, len(p.Rules))
	for i, r := range p.Rules {
		key, err := r.key(keys, values)
		if err != nil {
			return nil, err
		}
		checks[i] = limit.Check{Limit: r.Limit, Key: key, Cost: cost}
	}
	return checks, nil
}

func (r Rule) key(keys *clientkey.Keys, values Values) (string, error) {
	if r.Parts[0] == Global {
		return string(Global), nil
	}
	var kind, all strings.Builder
	for _, part := range r.Parts {
		value := values(part)
		if value == "" {
			return "", fmt.Errorf("%w: rule %s counts by %s", ErrPart, r.Limit.Rule().Name, part)
		}
		if part == Address {
			addr, err := netip.ParseAddr(value)
			if err != nil {
				return "", fmt.Errorf("%w: rule %s counts by address, which is not one", ErrPart, r.Limit.Rule().Name)
			}
			value = keys.Network(addr).String()
		}
		fmt.Fprintf(&kind, "%s,", part)
		fmt.Fprintf(&all, "%d:%s", len(value), value) // so that no value runs into the next
	}
	return keys.Hash(kind.String(), all.String()), nil
}

// Needs tells whether a rule counts by a part.
func (p *Policy) Needs(part Part) bool {
	for _, r := range p.Rules {
		for _, have := range r.Parts {
			if have == part {
				return true
			}
		}
	}
	return false
}

// Rule is the rule by whose name a decision was made.
func (p *Policy) Rule(name string) (Rule, bool) {
	for _, r := range p.Rules {
		if r.Limit.Rule().Name == name {
			return r, true
		}
	}
	return Rule{}, false
}

// scaled is what one process gives of a limit: the same rate over a longer time, so that
// no count is rounded, and a burst rounded down, at least 1 and at least the largest cost.
func scaled(of limit.Rule, share float64) (*limit.Limit, error) {
	of.Algorithm = limit.GCRA // exact, and a burst of its own
	of.RecordDenied = false
	of.Burst = max(int64(float64(of.Burst)*share), 1, of.MaxCost)
	of.Rate.Per = time.Duration(float64(of.Rate.Per)/share + 1).Round(time.Microsecond)
	return limit.New(of)
}
