package clientkey

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
)

// ErrKeys is wrapped by the errors of NewKeys.
var ErrKeys = errors.New("clientkey: unusable settings of keys")

const (
	// DefaultPrefix6 is the part of an IPv6 address that counts, in bits.
	DefaultPrefix6 = 64
	leastSecret    = 16 // bytes
	hashed         = 16 // bytes of a hash that are kept: no two of 2^32 callers meet
)

// Keys makes limiter keys. It is read-only, so any goroutine may use it.
type Keys struct {
	secret  []byte
	prefix6 int
}

// NewKeys makes keys by a secret of at least 16 bytes. All servers on one store need the
// same one, or each counts for itself. prefix6 is how many bits of an IPv6 address count,
// 16 to 128; 0 means DefaultPrefix6. The error wraps ErrKeys.
func NewKeys(secret []byte, prefix6 int) (*Keys, error) {
	if prefix6 == 0 {
		prefix6 = DefaultPrefix6
	}
	if len(secret) < leastSecret {
		return nil, fmt.Errorf("%w: a secret of %d bytes, want %d or more", ErrKeys, len(secret), leastSecret)
	}
	if prefix6 < 16 || prefix6 > 128 {
		return nil, fmt.Errorf("%w: an IPv6 prefix of %d bits, want 16 to 128", ErrKeys, prefix6)
	}
	return &Keys{secret: append([]byte(nil), secret...), prefix6: prefix6}, nil
}

// Hash is the key of a value of some kind, such as "user": 22 characters of base64url, the
// first 128 bits of an HMAC-SHA-256. Equal values of two kinds have different keys. Length
// and content of the value do not matter; the empty value is one too.
func (k *Keys) Hash(kind, value string) string {
	mac := hmac.New(sha256.New, k.secret)
	mac.Write([]byte{byte(len(kind) >> 8), byte(len(kind))}) // so that no kind runs into its value
	mac.Write([]byte(kind))
	mac.Write([]byte(value))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:hashed])
}

// Address is the key of an address: of all of IPv4, of IPv6 its prefix. The zero Addr has
// a key too, which all who have no address share.
func (k *Keys) Address(addr netip.Addr) string {
	return k.Hash("address", k.Network(addr).String())
}

// Network is what counts as one caller: all of an IPv4 address, a prefix of IPv6.
func (k *Keys) Network(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap().WithZone("")
	bits := addr.BitLen()
	if addr.Is6() {
		bits = k.prefix6
	}
	return netip.PrefixFrom(addr, bits).Masked()
}
