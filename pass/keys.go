package pass

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
)

// Keys finds public keys by their id. Key returns ErrUnknownKey for an id that it does
// not have; it may block on the network until ctx ends, and is safe for concurrent use.
type Keys interface {
	Key(ctx context.Context, kid string) (ed25519.PublicKey, error)
}

// StaticKeys is a fixed set of public keys by key id. It marshals to JSON as a JWKS.
type StaticKeys map[string]ed25519.PublicKey

// NewStaticKeys names each key by KeyID.
func NewStaticKeys(keys ...ed25519.PublicKey) (StaticKeys, error) {
	set := make(StaticKeys, len(keys))
	for _, key := range keys {
		if len(key) != ed25519.PublicKeySize {
			return nil, errors.New("pass: a public key has 32 bytes")
		}
		set[KeyID(key)] = key
	}
	return set, nil
}

// Key implements Keys. It does not block.
func (s StaticKeys) Key(_ context.Context, kid string) (ed25519.PublicKey, error) {
	if key, ok := s[kid]; ok {
		return key, nil
	}
	return nil, ErrUnknownKey
}

// KeyID is the first 16 characters of the key's RFC 7638 thumbprint in base64url.
func KeyID(key ed25519.PublicKey) string {
	x := base64.RawURLEncoding.EncodeToString(key)
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:16]
}
