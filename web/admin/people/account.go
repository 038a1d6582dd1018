package people

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Errors of accounts.
var (
	ErrLogin    = errors.New("people: unusable name")
	ErrInvite   = errors.New("people: this link was used, is too old, or never was one")
	ErrSignIn   = errors.New("people: wrong name or password")
	ErrConfined = errors.New("people: nobody may do this to their own account")
)

// InviteLife is how long a link to choose a password is good.
const InviteLife = 24 * time.Hour

// Account is a person.
type Account struct {
	ID string `json:"id"`
	// Login is the name that the person types: lower case, unique. For a person of an
	// identity provider it is what the provider calls them, and need not be unique.
	Login string `json:"login"`
	Role  Role   `json:"role"`
	// Disabled keeps the account and lets nobody in.
	Disabled bool `json:"disabled,omitempty"`
	// Provider and Subject name a person of an identity provider (OIDC iss and sub). Such an
	// account has no password and no codes of ours.
	Provider string `json:"provider,omitempty"`
	Subject  string `json:"subject,omitempty"`
	// Password is an argon2id hash; empty = not chosen yet.
	Password string `json:"password,omitempty"`
	// TOTP is the authenticator's secret in base32; empty = not set up. Step is the last one used.
	TOTP string `json:"totp,omitempty"`
	Step int64  `json:"step,omitempty"`
	// Recovery are hashes of the recovery codes that are left.
	Recovery []string `json:"recovery,omitempty"`
	// Invite is the hash of a link to choose a password, good until InviteUntil.
	Invite      string    `json:"invite,omitempty"`
	InviteUntil time.Time `json:"invite_until,omitzero"`
	// Epoch counts what ends all sessions; a session of an earlier one is over.
	Epoch    int64     `json:"epoch"`
	Created  time.Time `json:"created"`
	SignedIn time.Time `json:"signed_in,omitzero"`
	// Version is the store's: it grows with each write.
	Version int64 `json:"-"`
}

var validLogin = regexp.MustCompile(`^[a-z0-9]([a-z0-9._@+-]{0,62}[a-z0-9])?$`)

// CleanLogin is a name as it is kept: lower case, without space around it. The error wraps
// ErrLogin.
func CleanLogin(text string) (string, error) {
	login := strings.ToLower(strings.TrimSpace(text))
	if !validLogin.MatchString(login) {
		return "", fmt.Errorf("%w: want 1 to 64 of a-z, 0-9 and . _ @ + -, with a letter or digit at both ends", ErrLogin)
	}
	return login, nil
}

// NewAccount is somebody who signs in with a password, not chosen yet. The error wraps ErrLogin.
func NewAccount(login string, role Role, now time.Time) (Account, error) {
	login, err := CleanLogin(login)
	return Account{ID: NewID(), Login: login, Role: role, Created: now}, err
}

// Handle is what is unique of an account.
func (a Account) Handle() string {
	if a.Provider != "" {
		return ProviderHandle(a.Provider, a.Subject)
	}
	return LoginHandle(a.Login)
}

// LoginHandle is the handle of an account with a password.
func LoginHandle(login string) string { return "login:" + login }

// ProviderHandle is the handle of a person of an identity provider. Provider and subject
// are hashed together, each with its length, so that no two pairs meet.
func ProviderHandle(provider, subject string) string {
	return "oidc:" + Hash(fmt.Sprintf("%d:%s%s", len(provider), provider, subject))
}

// Governs tells of somebody who can decide about people now. One such person has to stay.
func (a Account) Governs() bool {
	return a.Role == Admin && !a.Disabled && (a.Provider != "" || a.Password != "" && a.TOTP != "")
}

// Status is a word for the list of people.
func (a Account) Status() string {
	switch {
	case a.Disabled:
		return "disabled"
	case a.Provider == "" && a.Password == "":
		return "invited"
	}
	return "active"
}

// Actor is the person as one who acts.
func (a Account) Actor() Actor { return Actor{ID: a.ID, Name: a.Login, Role: a.Role} }

// WithInvite takes away password and codes, ends all sessions, and makes a code by which
// the person chooses new ones until InviteLife has passed.
func (a Account) WithInvite(now time.Time) (changed Account, code string) {
	code = NewCode()
	a.Invite, a.InviteUntil = Hash(code), now.Add(InviteLife)
	a.Password, a.TOTP, a.Step, a.Recovery = "", "", 0, nil
	a.Epoch++
	return a, code
}

// Invited tells whether a code of WithInvite counts now. The error is ErrInvite.
func (a Account) Invited(code string, now time.Time) error {
	if a.Disabled || !matches(code, a.Invite) || !now.Before(a.InviteUntil) {
		return ErrInvite
	}
	return nil
}

// WithPassword sets the hash of a new password, uses the invitation up and ends all sessions.
func (a Account) WithPassword(hash string) Account {
	a.Password, a.Invite, a.InviteUntil = hash, "", time.Time{}
	a.Epoch++
	return a
}

// WithTOTP sets up an authenticator by a first code of it, and makes recovery codes. The
// error is ErrCode.
func (a Account) WithTOTP(secret, code string, now time.Time) (changed Account, codes []string, err error) {
	step, err := StepTOTP(secret, code, now, 0)
	if err != nil {
		return a, nil, err
	}
	a.TOTP, a.Step = secret, step
	codes, a.Recovery = NewRecovery()
	return a, codes, nil
}

// WithRecovery makes new recovery codes; the old ones no longer count.
func (a Account) WithRecovery() (changed Account, codes []string) {
	codes, a.Recovery = NewRecovery()
	return a, codes
}

// UseCode uses a one-time or a recovery code up; recovery tells which it was. The change
// has to be stored against the version that was read: two who use one code at once are
// told apart there. The error is ErrCode.
func (a Account) UseCode(code string, now time.Time) (changed Account, recovery bool, err error) {
	if a.TOTP == "" {
		return a, false, ErrCode
	}
	if step, err := StepTOTP(a.TOTP, code, now, a.Step); err == nil {
		a.Step = step
		return a, false, nil
	}
	plain := plainRecovery(code)
	for i, hash := range a.Recovery {
		if matches(plain, hash) {
			a.Recovery = slices.Delete(slices.Clone(a.Recovery), i, i+1)
			return a, true, nil
		}
	}
	return a, false, ErrCode
}
