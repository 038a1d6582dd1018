package people

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// ErrToken means an API token that is not known, or that cannot be made as asked.
var ErrToken = errors.New("people: unusable token")

const (
	tokenPrefix = "anteroom_"
	mostName    = 80 // characters
	// MostTokenLife bounds a token.
	MostTokenLife = 366 * 24 * time.Hour
	mostRooms     = 100
)

// Token is an API token. What is shown once is its text; only a hash is kept.
type Token struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Role Role   `json:"role"`
	// Rooms are the only ones that it may act on; empty = all.
	Rooms   []string  `json:"rooms,omitempty"`
	Hash    string    `json:"hash"`
	By      string    `json:"by"` // who made it
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	// Used is when it was last used, to a minute; the store keeps it beside the token.
	Used time.Time `json:"-"`
}

// NewToken makes a token and the text that its owner sends: anteroom_<id>_<secret>. The
// error wraps ErrToken and names what is wrong.
func NewToken(name string, role Role, rooms []string, life time.Duration, by Actor, now time.Time) (t Token, text string, err error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "" || utf8.RuneCountInString(name) > mostName || strings.ContainsFunc(name, unicode.IsControl):
		err = fmt.Errorf("%w: a name has 1 to %d characters", ErrToken, mostName)
	case role <= Nobody || role > Admin:
		err = fmt.Errorf("%w: a token needs a role", ErrToken)
	case !by.May(role):
		err = fmt.Errorf("%w: %s may not give the role %s", ErrToken, by.Role, role)
	case life < time.Minute || life > MostTokenLife:
		err = fmt.Errorf("%w: a token lives for a minute to %d days", ErrToken, MostTokenLife/(24*time.Hour))
	case len(rooms) > mostRooms:
		err = fmt.Errorf("%w: a token names at most %d rooms", ErrToken, mostRooms)
	}
	if err != nil {
		return Token{}, "", err
	}
	rooms = slices.Compact(slices.Sorted(slices.Values(rooms)))
	secret := NewCode()
	t = Token{ID: NewID(), Name: name, Role: role, Rooms: rooms, Hash: Hash(secret), By: by.Name, Created: now, Expires: now.Add(life)}
	return t, tokenPrefix + t.ID + "_" + secret, nil
}

// CutToken takes a token's text apart. It judges only the form.
func CutToken(text string) (id, secret string, ok bool) {
	rest, ok := strings.CutPrefix(text, tokenPrefix)
	if !ok || len(rest) > 128 {
		return "", "", false
	}
	id, secret, ok = strings.Cut(rest, "_")
	return id, secret, ok && id != "" && secret != ""
}

// Actor is the token as one who acts, if the secret is its own and it has not expired.
// The error is ErrToken.
func (t Token) Actor(secret string, now time.Time) (Actor, error) {
	if !matches(secret, t.Hash) || !now.Before(t.Expires) {
		return Actor{}, ErrToken
	}
	return Actor{ID: t.ID, Name: "token " + t.Name, Role: t.Role, Token: true, Rooms: t.Rooms}, nil
}
