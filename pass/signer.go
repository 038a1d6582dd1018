package pass

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// ErrClaims means that Sign was asked for a pass that no Verifier would accept.
var ErrClaims = errors.New("pass: room, visitor and a generation from 1 are required")

// Signer issues passes with one key and publishes the public halves of all of its keys.
// It does not change after NewSigner and is safe for concurrent use.
type Signer struct {
	issuer string
	key    ed25519.PrivateKey
	kid    string
	public StaticKeys
	jwks   []byte
}

// NewSigner signs as issuer with key. The other keys are published beside it: retired
// ones, whose passes stay valid, and coming ones, which origins learn before their
// first pass.
func NewSigner(issuer string, key ed25519.PrivateKey, others ...ed25519.PublicKey) (*Signer, error) {
	if len(key) != ed25519.PrivateKeySize {
		return nil, ErrKey
	}
	own := key.Public().(ed25519.PublicKey)
	public, err := NewStaticKeys(append([]ed25519.PublicKey{own}, others...)...)
	if err != nil {
		return nil, err
	}
	set, err := json.Marshal(public)
	if err != nil {
		return nil, fmt.Errorf("pass: JWKS: %w", err)
	}
	return &Signer{issuer: issuer, key: key, kid: KeyID(own), public: public, jwks: set}, nil
}

// Keys are the public keys by which this signer's passes are checked. The caller does
// not change them.
func (s *Signer) Keys() StaticKeys { return s.public }

// JWKS is the document to serve at /.well-known/jwks.json (RFC 7517, RFC 8037). The
// same keys give the same bytes.
func (s *Signer) JWKS() []byte { return bytes.Clone(s.jwks) }

// Sign issues a pass for a visitor of a room that is good from now until expires, both
// cut to whole seconds.
func (s *Signer) Sign(room, visitor string, generation int64, now, expires time.Time) (string, Claims, error) {
	return s.Renew(Claims{Room: room, Visitor: visitor, Generation: generation, Since: now}, now, expires)
}

// Renew issues a pass for the same visitor, room, generation and begin as old, good from
// now until expires.
func (s *Signer) Renew(old Claims, now, expires time.Time) (string, Claims, error) {
	return s.sign(old, "", now, expires)
}

// HandoverLife is how long a hand-over token is good: the time of one redirect, on a slow
// phone.
const HandoverLife = 2 * time.Minute

// SignHandover issues a token that carries a visitor's admission to another domain, once,
// in a URL. Whoever redeems it gives the visitor a pass; it is none itself.
func (s *Signer) SignHandover(of Claims, now time.Time) (string, Claims, error) {
	return s.sign(of, useHandover, now, now.Add(HandoverLife))
}

func (s *Signer) sign(of Claims, use string, now, expires time.Time) (string, Claims, error) {
	if of.Room == "" || of.Visitor == "" || of.Generation < 1 {
		return "", Claims{}, ErrClaims
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // crypto/rand.Read never fails
	c := Claims{
		Issuer: s.issuer, Room: of.Room, Visitor: of.Visitor, Generation: of.Generation,
		ID:       base64.RawURLEncoding.EncodeToString(id[:]),
		IssuedAt: now.Truncate(time.Second), Expires: expires.Truncate(time.Second), Since: of.Since.Truncate(time.Second),
	}
	w := wire{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: c.Issuer, Subject: c.Visitor, Audience: jwt.ClaimStrings{c.Room}, ID: c.ID,
			IssuedAt: jwt.NewNumericDate(c.IssuedAt), NotBefore: jwt.NewNumericDate(c.IssuedAt),
			ExpiresAt: jwt.NewNumericDate(c.Expires),
		},
		Generation: c.Generation, Use: use,
	}
	if !c.Since.IsZero() {
		w.Since = jwt.NewNumericDate(c.Since)
	}
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, w)
	token.Header["kid"] = s.kid
	signed, err := token.SignedString(s.key)
	if err != nil {
		return "", Claims{}, fmt.Errorf("pass: sign: %w", err)
	}
	return signed, c, nil
}
