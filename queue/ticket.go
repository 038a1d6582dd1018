package queue

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
)

// ID names a visitor in one line: 16 bytes in base64url, 22 characters.
type ID string

// Ticket is a visitor's place, as the signed token carries it.
type Ticket struct {
	Room       string
	Generation int64
	ID         ID
	Place      int64 // µs, 1 to 2^53-1; smaller is earlier
	Target     string
}

// Errors of tickets and keys.
var (
	// ErrTicket means that a token is malformed, forged, or of another room. The
	// visitor is treated as one without a ticket.
	ErrTicket = errors.New("queue: not a valid ticket")
	// ErrTicketKey means that a ticket key is too short to sign with.
	ErrTicketKey = errors.New("queue: ticket keys need at least 32 bytes")
	// ErrTargetTooLong means that a target does not fit into a ticket.
	ErrTargetTooLong = errors.New("queue: target is longer than 2048 bytes")
)

const (
	ticketVersion = 1
	idBytes       = 16
	macBytes      = 16
	maxPlace      = 1<<53 - 1
	// MaxTarget is the longest target that a ticket carries, in bytes.
	MaxTarget = 2048
	maxToken  = 4096
)

// Signer signs and reads tickets with HMAC-SHA256 cut to 128 bits.
type Signer struct{ keys []*macKey }

// NewSigner signs with the first key and accepts the tickets of all of them, so that
// a key can be replaced while people wait.
func NewSigner(signing []byte, accepted ...[]byte) (*Signer, error) {
	s := &Signer{}
	for _, key := range append([][]byte{signing}, accepted...) {
		if len(key) < 32 {
			return nil, ErrTicketKey
		}
		s.keys = append(s.keys, newMACKey(key))
	}
	return s, nil
}

// Sign returns the ticket's token: base64url of version, generation, place, id, room,
// target and MAC.
func (s *Signer) Sign(t Ticket) (string, error) {
	id, err := base64.RawURLEncoding.DecodeString(string(t.ID))
	if err != nil || len(id) != idBytes {
		return "", fmt.Errorf("%w: id %q", ErrTicket, t.ID)
	}
	if len(t.Target) > MaxTarget {
		return "", ErrTargetTooLong
	}
	b := make([]byte, 0, 64+len(t.Room)+len(t.Target))
	b = append(b, ticketVersion)
	b = binary.AppendUvarint(b, uint64(t.Generation))
	b = binary.AppendUvarint(b, uint64(t.Place))
	b = append(b, id...)
	b = binary.AppendUvarint(b, uint64(len(t.Room)))
	b = append(b, t.Room...)
	b = append(b, t.Target...)
	sum := s.keys[0].mac("ticket", b)
	return base64.RawURLEncoding.EncodeToString(append(b, sum[:]...)), nil
}

// Parse reads a token that must be of room. Every fault is ErrTicket.
func (s *Signer) Parse(room, token string) (Ticket, error) {
	if len(token) > maxToken {
		return Ticket{}, fmt.Errorf("%w: %d bytes long", ErrTicket, len(token))
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) < macBytes+1 {
		return Ticket{}, fmt.Errorf("%w: not base64url", ErrTicket)
	}
	body, sum := raw[:len(raw)-macBytes], raw[len(raw)-macBytes:]
	if !s.signed(body, sum) {
		return Ticket{}, fmt.Errorf("%w: signature", ErrTicket)
	}
	t, ok := decode(body)
	if !ok {
		return Ticket{}, fmt.Errorf("%w: body", ErrTicket)
	}
	if t.Room != room {
		return Ticket{}, fmt.Errorf("%w: of another room", ErrTicket)
	}
	return t, nil
}

func (s *Signer) signed(body, sum []byte) bool {
	for _, key := range s.keys {
		if want := key.mac("ticket", body); hmac.Equal(want[:], sum) {
			return true
		}
	}
	return false
}

func decode(b []byte) (Ticket, bool) {
	if b[0] != ticketVersion {
		return Ticket{}, false
	}
	b = b[1:]
	generation, n := binary.Uvarint(b)
	if n <= 0 || generation < 1 || generation > maxPlace {
		return Ticket{}, false
	}
	b = b[n:]
	place, n := binary.Uvarint(b)
	if n <= 0 || place < 1 || place > maxPlace || len(b) < n+idBytes {
		return Ticket{}, false
	}
	id, b := b[n:n+idBytes], b[n+idBytes:]
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return Ticket{}, false
	}
	return Ticket{
		Generation: int64(generation),
		Place:      int64(place),
		ID:         encodeID(id),
		Room:       string(b[n : n+int(size)]),
		Target:     string(b[n+int(size):]),
	}, true
}

// DeriveID turns a visitor's secret (an idempotency key, the visitor cookie) into the
// id of the visitor's nth place in a room. The same secret gives the same id, so joins
// that race or are repeated meet at one place; the secret cannot be read back.
func (s *Signer) DeriveID(room, secret string, n int) ID {
	b := make([]byte, 0, len(room)+len(secret)+8)
	b = append(b, room...)
	b = append(b, 0)
	b = strconv.AppendInt(b, int64(n), 10)
	b = append(b, 0)
	b = append(b, secret...)
	sum := s.keys[0].mac("id", b)
	return encodeID(sum[:idBytes])
}

// Key derives a key of 16 bytes for another purpose from the key that signs.
func (s *Signer) Key(purpose string) []byte {
	sum := s.keys[0].mac("key", []byte(purpose))
	return sum[:]
}

// NewSecret is 128 random bits in base64url: a visitor cookie's value.
func NewSecret() string {
	var b [idBytes]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func encodeID(b []byte) ID { return ID(base64.RawURLEncoding.EncodeToString(b)) }
