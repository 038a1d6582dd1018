// Package proof asks a browser for a little work before it gets a place, so that a flood of
// joins costs its sender something. It is the scheme of ALTCHA (SHA-256): find the number
// whose hash with a salt is the challenge. Nothing is stored; a challenge is signed, and
// whoever accepts a solution has to use it up.
package proof

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// Life is how long a challenge can be solved.
const Life = 10 * time.Minute

// MaxNumber bounds the work: on average half of it in hashes.
const MaxNumber = 10_000_000

// maxPayload is the longest solution that is read, in bytes.
const maxPayload = 1024

const algorithm = "SHA-256"

// Errors of Verify.
var (
	ErrMalformed = errors.New("proof: malformed")
	ErrExpired   = errors.New("proof: too old")
	ErrWrong     = errors.New("proof: wrong")
)

// Challenge is what a browser gets.
type Challenge struct {
	Algorithm string `json:"algorithm"`
	Challenge string `json:"challenge"` // hex SHA-256 of salt and number
	Salt      string `json:"salt"`      // ends in ?expires=<Unix seconds>
	MaxNumber int64  `json:"maxnumber"` // the number is 0 to this
	Signature string `json:"signature"` // hex HMAC-SHA256 of the challenge
}

// solution is what a browser sends back, as base64 of JSON.
type solution struct {
	Algorithm string `json:"algorithm"`
	Challenge string `json:"challenge"`
	Number    int64  `json:"number"`
	Salt      string `json:"salt"`
	Signature string `json:"signature"`
}

// Issuer makes and checks challenges. It is safe for concurrent use.
type Issuer struct{ key []byte }

// New signs with key, of at least 16 bytes.
func New(key []byte) *Issuer { return &Issuer{key} }

// Ask makes a challenge of up to most hashes for a room.
func (i *Issuer) Ask(room string, most int64, now time.Time) (Challenge, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(most+1))
	if err != nil {
		return Challenge{}, err
	}
	var random [12]byte
	_, _ = rand.Read(random[:]) // crypto/rand.Read never fails
	salt := hex.EncodeToString(random[:]) + "?expires=" + strconv.FormatInt(now.Add(Life).Unix(), 10)
	c := hash(salt, n.Int64())
	return Challenge{algorithm, c, salt, most, i.sign(room, c)}, nil
}

// Verify checks a solution for a room and returns what names it, to be used up once.
func (i *Issuer) Verify(room, payload string, now time.Time) (string, error) {
	if len(payload) > maxPayload {
		return "", ErrMalformed
	}
	raw, err := base64.StdEncoding.DecodeString(payload)
	var s solution
	if err != nil || json.Unmarshal(raw, &s) != nil || s.Algorithm != algorithm || len(s.Challenge) != 2*sha256.Size {
		return "", ErrMalformed
	}
	if !hmac.Equal([]byte(s.Signature), []byte(i.sign(room, s.Challenge))) || hash(s.Salt, s.Number) != s.Challenge {
		return "", ErrWrong
	}
	_, expires, _ := strings.Cut(s.Salt, "?expires=")
	until, err := strconv.ParseInt(expires, 10, 64)
	if err != nil || now.Unix() > until {
		return "", ErrExpired
	}
	return s.Challenge[:32], nil
}

func (i *Issuer) sign(room, challenge string) string {
	m := hmac.New(sha256.New, i.key)
	_, _ = m.Write([]byte(room + "\x00" + challenge))
	return hex.EncodeToString(m.Sum(nil))
}

func hash(salt string, n int64) string {
	sum := sha256.Sum256([]byte(salt + strconv.FormatInt(n, 10)))
	return hex.EncodeToString(sum[:])
}

// Solve does the work, for tests and programs that join.
func Solve(c Challenge) (string, error) {
	for n := range c.MaxNumber + 1 {
		if hash(c.Salt, n) == c.Challenge {
			raw, err := json.Marshal(solution{c.Algorithm, c.Challenge, n, c.Salt, c.Signature})
			return base64.StdEncoding.EncodeToString(raw), err
		}
	}
	return "", ErrWrong
}
