package pass

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

// Keys finds public keys by their id. Key returns ErrUnknownKey for an id that it does
// not have; it may block on the network until ctx ends, and is safe for concurrent use.
type Keys interface {
	Key(ctx context.Context, kid string) (ed25519.PublicKey, error)
}

// StaticKeys is a fixed set of public keys by key id.
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

// Key implements Keys.
func (s StaticKeys) Key(_ context.Context, kid string) (ed25519.PublicKey, error) {
	if key, ok := s[kid]; ok {
		return key, nil
	}
	return nil, ErrUnknownKey
}

// KeyID is the first 16 characters of the key's RFC 7638 thumbprint.
func KeyID(key ed25519.PublicKey) string {
	x := base64.RawURLEncoding.EncodeToString(key)
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:16]
}

// jwk is one Ed25519 public key by RFC 8037.
type jwk struct {
	Kty string `json:"kty"`
	Crv string `json:"crv"`
	Kid string `json:"kid"`
	Use string `json:"use"`
	Alg string `json:"alg"`
	X   string `json:"x"`
}

type jwks struct {
	Keys []jwk `json:"keys"`
}

// MarshalJSON writes the set as a JWKS (RFC 7517).
func (s StaticKeys) MarshalJSON() ([]byte, error) {
	set := jwks{Keys: []jwk{}}
	for kid, key := range s {
		set.Keys = append(set.Keys, jwk{
			Kty: "OKP", Crv: "Ed25519", Kid: kid, Use: "sig", Alg: "EdDSA",
			X: base64.RawURLEncoding.EncodeToString(key),
		})
	}
	return json.Marshal(set)
}

// ParseJWKS reads the Ed25519 keys of a JWKS and passes over others. A set without any
// is an error.
func ParseJWKS(data []byte) (StaticKeys, error) {
	var set jwks
	if err := json.Unmarshal(data, &set); err != nil {
		return nil, fmt.Errorf("pass: JWKS: %w", err)
	}
	keys := StaticKeys{}
	for _, k := range set.Keys {
		x, err := base64.RawURLEncoding.DecodeString(k.X)
		if k.Kty == "OKP" && k.Crv == "Ed25519" && k.Kid != "" && err == nil && len(x) == ed25519.PublicKeySize {
			keys[k.Kid] = x
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("pass: JWKS holds no Ed25519 key")
	}
	return keys, nil
}
