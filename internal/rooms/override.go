package rooms

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/anteroom/anteroom/internal/match"
)

// Override is what an operator changed of a room while it runs: values by the names of the
// rooms file's fields, written as there. The file is the start, an override goes over it.
type Override map[string]string

// adjustable are the fields that may be changed without a new rooms file: none of them
// changes what a room protects or where people are sent.
var adjustable = []string{
	"capacity", "rate", "burst", "session", "max_session", "claim_window", "max_waiting",
	"message", "state", "opens", "enabled",
}

// Adjustable are the names of the fields that an Override may have.
func Adjustable() []string { return slices.Clone(adjustable) }

// ErrOverride is wrapped by every error of Apply and Check.
var ErrOverride = errors.New("settings")

// Check reports every value that could stand in no room, by the rules of the rooms file. A
// value may be sound by itself and not go with the rest of a room; Apply finds that.
func (o Override) Check() error {
	r := overrideReader(Room{})
	o.read(r)
	return r.overrideErr()
}

// Apply is the room with the override over it. The error names every problem, and the room
// is then as it was.
func (o Override) Apply(room Room) (Room, error) {
	changed := room
	changed.Targets = slices.Clone(room.Targets)
	r := overrideReader(changed)
	o.read(r)
	r.together()
	if err := r.overrideErr(); err != nil {
		return room, err
	}
	return r.room, nil
}

func overrideReader(room Room) *roomReader {
	f := &fileReader{names: map[string]int{}, matches: map[match.Rule]int{}}
	return &roomReader{
		fileReader: f, room: room, start: 1, wrong: map[string]bool{},
		lines: map[string]int{"name": 1, "capacity": 1, "rate": 1},
	}
}

func (o Override) read(r *roomReader) {
	for i, name := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(adjustable, name) {
			r.problem(i+1, "%q cannot be changed while a room runs, only %v", name, adjustable)
			continue
		}
		r.lines[name] = i + 1
		r.field(&yaml.Node{Kind: yaml.ScalarNode, Value: name}, scalarOf(name, o[name]))
	}
}

// scalarOf is a value as the reader of the file would give it.
func scalarOf(field, value string) *yaml.Node {
	tag := "!!str"
	switch _, err := strconv.Atoi(value); {
	case err == nil && field != "message":
		tag = "!!int"
	case value == "true" || value == "false":
		tag = "!!bool"
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

func (r *roomReader) overrideErr() error {
	if len(r.problems) == 0 {
		return nil
	}
	errs := make([]error, len(r.problems))
	for i, p := range r.problems {
		errs[i] = errors.New(p.text)
	}
	return fmt.Errorf("%w: %w", ErrOverride, errors.Join(errs...))
}

// Values are a room's adjustable fields as an Override would write them. What the file left
// out has its default; a moment or a limit that there is not is absent.
func (r Room) Values() Override {
	o := Override{
		"capacity": strconv.Itoa(r.Capacity), "rate": r.Rate.String(), "burst": strconv.Itoa(r.Burst),
		"session": plain(r.Session), "max_session": plain(r.MaxSession), "claim_window": plain(r.ClaimWindow),
		"message": r.Message, "state": string(r.State), "enabled": strconv.FormatBool(r.Enabled),
	}
	if r.MaxWaiting > 0 {
		o["max_waiting"] = strconv.Itoa(r.MaxWaiting)
	}
	if !r.Opens.IsZero() {
		o["opens"] = r.Opens.Format(time.RFC3339)
	}
	return o
}

// plain writes a duration as people do: 10m, not 10m0s.
func plain(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if n := len(s) - len(zero); n > 0 && s[n:] == zero {
			s = s[:n+1]
		}
	}
	return s
}
