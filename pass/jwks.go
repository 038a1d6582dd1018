package pass

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ErrJWKS means that a document is not a JWKS with at least one usable key.
var ErrJWKS = errors.New("pass: unusable JWKS")

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

// MarshalJSON writes the set as a JWKS (RFC 7517), in the order of the key ids.
func (s StaticKeys) MarshalJSON() ([]byte, error) {
	set := jwks{Keys: []jwk{}}
	for _, kid := range slices.Sorted(maps.Keys(s)) {
		set.Keys = append(set.Keys, jwk{
			Kty: "OKP", Crv: "Ed25519", Kid: kid, Use: "sig", Alg: "EdDSA",
			X: base64.RawURLEncoding.EncodeToString(s[kid]),
		})
	}
	return json.Marshal(set)
}

// ParseJWKS reads the Ed25519 signing keys of a JWKS and passes over others, as RFC 7517
// section 5 asks. A set without any, or with two keys of one id, is ErrJWKS.
func ParseJWKS(data []byte) (StaticKeys, error) {
	var set jwks
	if err := json.Unmarshal(data, &set); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrJWKS, err)
	}
	keys := StaticKeys{}
	for _, k := range set.Keys {
		key, ok := k.ed25519()
		if !ok {
			continue
		}
		if had, twice := keys[k.Kid]; twice && !bytes.Equal(had, key) {
			return nil, fmt.Errorf("%w: two keys have the id %q", ErrJWKS, k.Kid)
		}
		keys[k.Kid] = key
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%w: no Ed25519 key", ErrJWKS)
	}
	return keys, nil
}

// ed25519 is the key of k if passes can be signed with it. RFC 9864 names the algorithm
// Ed25519, RFC 8037 EdDSA.
func (k jwk) ed25519() (ed25519.PublicKey, bool) {
	switch {
	case k.Kty != "OKP" || k.Crv != "Ed25519" || k.Kid == "" || len(k.Kid) > maxKeyID:
		return nil, false
	case k.Use != "" && k.Use != "sig":
		return nil, false
	case k.Alg != "" && k.Alg != "EdDSA" && k.Alg != "Ed25519":
		return nil, false
	}
	x, err := base64.RawURLEncoding.DecodeString(k.X)
	return x, err == nil && len(x) == ed25519.PublicKeySize
}
