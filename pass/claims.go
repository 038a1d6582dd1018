package pass

import (
	"errors"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Claims is what a pass says. Every field but Issuer is required.
type Claims struct {
	Issuer     string
	Room       string // aud; a pass has exactly one
	Visitor    string // sub, the id of the visitor's ticket
	Generation int64  // gen, from 1; a reset of the room raises it
	ID         string // jti
	IssuedAt   time.Time
	Expires    time.Time // never after the slot in the room ends
	// Since is when the visitor went inside; a renewed pass keeps it. Zero: not said.
	Since time.Time
}

// wire is the JWT form of Claims.
type wire struct {
	jwt.RegisteredClaims
	Generation int64            `json:"gen"`
	Since      *jwt.NumericDate `json:"since,omitempty"`
	Use        string           `json:"use,omitempty"`
}

// useHandover marks a token that travels once in a URL and is no pass by itself.
const useHandover = "handover"

// Leeway is how far the clocks of two machines may differ.
const Leeway = 5 * time.Second

// MaxLength is the longest token that is looked at, in bytes. A cookie is not longer.
const MaxLength = 4096

// Errors of Verify. Each is matched with errors.Is; the text holds no secrets.
var (
	// ErrMalformed covers a missing claim and a critical header too.
	ErrMalformed = errors.New("pass: malformed")
	// ErrUnknownKey covers a key that could not be fetched too.
	ErrUnknownKey = errors.New("pass: signed with an unknown key")
	// ErrSignature covers another algorithm than EdDSA too.
	ErrSignature  = errors.New("pass: signature does not match")
	ErrExpired    = errors.New("pass: expired")
	ErrNotYet     = errors.New("pass: not valid yet")
	ErrRoom       = errors.New("pass: of another room")
	ErrIssuer     = errors.New("pass: of another issuer")
	ErrGeneration = errors.New("pass: of an older generation")
	// ErrHandover means that a hand-over token was shown as a pass, or a pass as a
	// hand-over token.
	ErrHandover = errors.New("pass: a hand-over token is no pass")
	// ErrEnded means that Anteroom, asked online, said that the pass counts no more.
	ErrEnded = errors.New("pass: its session has ended")
	// ErrOnline means that Anteroom could not be asked.
	ErrOnline = errors.New("pass: online check failed")
)
