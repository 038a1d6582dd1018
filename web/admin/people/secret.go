package people

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"strings"
)

// letters are base32 in lower case: easy to read out and to type.
var letters = base32.StdEncoding.WithPadding(base32.NoPadding)

// random is n random bytes as text.
func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // crypto/rand.Read never fails
	return strings.ToLower(letters.EncodeToString(b))
}

// NewID names an account or a token: 80 random bits, 16 characters of [a-z2-7].
func NewID() string { return random(10) }

// NewCode is a secret that opens something once: 160 random bits, 32 characters of [a-z2-7].
func NewCode() string { return random(20) }

// Hash is how a random secret is kept: SHA-256 in hex. It is for secrets of 80 random bits
// and more, which nobody can try out; passwords need Hasher.
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// matches compares a secret with its hash in constant time. An empty hash matches nothing.
func matches(secret, hash string) bool {
	return hash != "" && subtle.ConstantTimeCompare([]byte(Hash(secret)), []byte(hash)) == 1
}
