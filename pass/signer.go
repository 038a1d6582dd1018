package pass

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// ErrKey means that a key file holds no Ed25519 private key in PKCS#8 PEM.
var ErrKey = errors.New("pass: not an Ed25519 private key")

// Signer issues passes with one key and publishes the public halves of all of its keys.
type Signer struct {
	issuer string
	key    ed25519.PrivateKey
	kid    string
	public StaticKeys
}

// NewSigner signs as issuer with key. Passes of the retired keys stay valid, because
// their public halves are published too.
func NewSigner(issuer string, key ed25519.PrivateKey, retired ...ed25519.PublicKey) (*Signer, error) {
	if len(key) != ed25519.PrivateKeySize {
		return nil, ErrKey
	}
	own := key.Public().(ed25519.PublicKey)
	public, err := NewStaticKeys(append([]ed25519.PublicKey{own}, retired...)...)
	if err != nil {
		return nil, err
	}
	return &Signer{issuer: issuer, key: key, kid: KeyID(own), public: public}, nil
}

// Keys are the public keys by which this signer's passes are checked.
func (s *Signer) Keys() StaticKeys { return s.public }

// Sign issues a pass for a visitor of a room that is good from now until expires.
func (s *Signer) Sign(room, visitor string, generation int64, now, expires time.Time) (string, Claims, error) {
	var id [16]byte
	_, _ = rand.Read(id[:]) // crypto/rand.Read never fails
	c := Claims{
		Issuer: s.issuer, Room: room, Visitor: visitor, Generation: generation,
		ID:       base64.RawURLEncoding.EncodeToString(id[:]),
		IssuedAt: now.Truncate(time.Second), Expires: expires.Truncate(time.Second),
	}
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, wire{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: c.Issuer, Subject: c.Visitor, Audience: jwt.ClaimStrings{c.Room}, ID: c.ID,
			IssuedAt: jwt.NewNumericDate(c.IssuedAt), NotBefore: jwt.NewNumericDate(c.IssuedAt),
			ExpiresAt: jwt.NewNumericDate(c.Expires),
		},
		Generation: generation,
	})
	token.Header["kid"] = s.kid
	signed, err := token.SignedString(s.key)
	if err != nil {
		return "", Claims{}, fmt.Errorf("pass: sign: %w", err)
	}
	return signed, c, nil
}

// MarshalKey writes a private key as PKCS#8 PEM.
func MarshalKey(key ed25519.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// ParseKey reads a private key from PKCS#8 PEM.
func ParseKey(data []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, fmt.Errorf("%w: no PRIVATE KEY block", ErrKey)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%w: it is a %T", ErrKey, key)
	}
	return private, nil
}
