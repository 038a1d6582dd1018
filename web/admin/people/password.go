package people

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
)

// Bounds of a password, in characters and bytes. The least length follows NIST SP 800-63B-4 for a
// password beside a second factor, and goes beyond it; there are no rules about characters.
const (
	LeastPassword = 12
	MostPassword  = 256
)

// ErrPassword means a password that cannot be chosen.
var ErrPassword = errors.New("people: unusable password")

// CheckPassword says what is wrong with a password that somebody chooses. The error wraps
// ErrPassword.
func CheckPassword(password, login string) error {
	switch n := utf8.RuneCountInString(password); {
	case !utf8.ValidString(password):
		return fmt.Errorf("%w: it is no text", ErrPassword)
	case n < LeastPassword:
		return fmt.Errorf("%w: it has %d characters, and needs %d or more", ErrPassword, n, LeastPassword)
	case len(password) > MostPassword:
		return fmt.Errorf("%w: it has more than %d bytes", ErrPassword, MostPassword)
	case len(login) >= 4 && strings.Contains(strings.ToLower(password), strings.ToLower(login)):
		return fmt.Errorf("%w: it contains your name", ErrPassword)
	case strings.Count(password, password[:1]) == len(password):
		return fmt.Errorf("%w: it is one character again and again", ErrPassword)
	}
	return nil
}

// Hasher hashes passwords by argon2id (RFC 9106). At most two hashes are made at once, so
// that a flood of sign-ins takes no more than twice the memory; others wait their turn.
type Hasher struct {
	params *argon2id.Params
	turns  chan struct{}
	dummy  string
}

// NewHasher takes the memory in KiB and the passes over it. Zeros mean 19 MiB and 2, the
// least that OWASP's password storage cheat sheet recommends: 40 ms on a slow core.
func NewHasher(memoryKiB, passes uint32) (*Hasher, error) {
	if memoryKiB == 0 {
		memoryKiB = 19 << 10
	}
	if passes == 0 {
		passes = 2
	}
	h := &Hasher{
		params: &argon2id.Params{Memory: memoryKiB, Iterations: passes, Parallelism: 1, SaltLength: 16, KeyLength: 32},
		turns:  make(chan struct{}, 2),
	}
	var err error
	h.dummy, err = argon2id.CreateHash(NewCode(), h.params)
	return h, err
}

// Hash makes the text that is kept of a password. It fails only when ctx ends.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	if err := h.enter(ctx); err != nil {
		return "", err
	}
	defer h.leave()
	return argon2id.CreateHash(password, h.params)
}

// Matches compares. Without a hash (no such account, or one without a password) it takes as
// long and says no, so that nobody learns which names exist. It fails when ctx ends, or when
// the hash is none.
func (h *Hasher) Matches(ctx context.Context, password, hash string) (bool, error) {
	if err := h.enter(ctx); err != nil {
		return false, err
	}
	defer h.leave()
	known := hash != ""
	if !known {
		hash = h.dummy
	}
	if len(password) > MostPassword {
		password, known = "", false
	}
	same, err := argon2id.ComparePasswordAndHash(password, hash)
	return same && known, err
}

func (h *Hasher) enter(ctx context.Context) error {
	select {
	case h.turns <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *Hasher) leave() { <-h.turns }
