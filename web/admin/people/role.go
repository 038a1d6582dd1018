package people

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Role is what somebody may do. Each role may do all that the ones below it may. The zero
// value may do nothing.
type Role int

// The roles.
const (
	Nobody   Role = iota // not signed in
	Viewer               // looks
	Operator             // also changes rooms and queues, and reads the audit log
	Admin                // also decides about people and tokens
)

// ErrRole means a text that names no role.
var ErrRole = errors.New("people: unknown role")

var roleNames = [...]string{"nobody", "viewer", "operator", "admin"}

// Roles are the roles that somebody can have, least first.
func Roles() []Role { return []Role{Viewer, Operator, Admin} }

// String is the role's name.
func (r Role) String() string {
	if r < 0 || int(r) >= len(roleNames) {
		return roleNames[Nobody]
	}
	return roleNames[r]
}

// ParseRole reads viewer, operator or admin. The error wraps ErrRole.
func ParseRole(text string) (Role, error) {
	for _, r := range Roles() {
		if r.String() == text {
			return r, nil
		}
	}
	return Nobody, fmt.Errorf("%w: %q, want viewer, operator or admin", ErrRole, text)
}

// MarshalText is the role's name.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (r *Role) UnmarshalText(text []byte) error {
	got, err := ParseRole(string(text))
	if string(text) == Nobody.String() {
		got, err = Nobody, nil
	}
	*r = got
	return err
}

// Actor is who does something.
type Actor struct {
	// ID is the account's or the token's, Name what people call it.
	ID, Name string
	Role     Role
	// Token is set for an API token. Rooms are the only ones that it may act on; empty is all.
	Token bool
	Rooms []string
	// Via is where a request came from: the address, for the audit log.
	Via string
}

// May tells whether the actor has at least a role.
func (a Actor) May(least Role) bool { return least > Nobody && a.Role >= least }

// MayRoom tells whether the actor may act on a room, given the role for it.
func (a Actor) MayRoom(room string) bool {
	return len(a.Rooms) == 0 || slices.Contains(a.Rooms, room)
}

// Confined tells of an actor who may act on some rooms only.
func (a Actor) Confined() bool { return len(a.Rooms) > 0 }

// RoleMap gives roles for the values of a claim of an identity provider.
type RoleMap map[string]Role

// Of is the highest role that a claim gives: a text, or a list of texts. Nobody when none
// of the values has a role.
func (m RoleMap) Of(claim any) Role {
	switch v := claim.(type) {
	case string:
		return m[v]
	case []any:
		best := Nobody
		for _, one := range v {
			if text, ok := one.(string); ok {
				best = max(best, m[text])
			}
		}
		return best
	}
	return Nobody
}

// Values are the claim's values that have a role, sorted.
func (m RoleMap) Values() []string { return slices.Sorted(maps.Keys(m)) }
