package queue

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"hash"
	"sync"
)

// macKey is one key of a Signer. It keeps keyed hashes for reuse, because keying one
// costs as much as a ticket's signature, and every request checks a signature.
type macKey struct{ hashes sync.Pool }

// keyedHash is an HMAC with a place for what goes in and out, so that neither is
// allocated.
type keyedHash struct {
	hash.Hash
	scratch [sha256.Size]byte
}

func newMACKey(key []byte) *macKey {
	key = bytes.Clone(key)
	k := &macKey{}
	k.hashes.New = func() any { return &keyedHash{Hash: hmac.New(sha256.New, key)} }
	return k
}

// mac binds a purpose to the message, so that an id is never a ticket's signature.
func (k *macKey) mac(purpose string, message []byte) [macBytes]byte {
	h := k.hashes.Get().(*keyedHash)
	defer k.hashes.Put(h)
	h.Reset()
	h.Write(append(append(h.scratch[:0], purpose...), 0))
	h.Write(message)
	return [macBytes]byte(h.Sum(h.scratch[:0]))
}
