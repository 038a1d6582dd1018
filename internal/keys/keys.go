package keys

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/anteroom/anteroom/pass"
)

// ErrKeyFile is wrapped by every complaint about a key file: missing, unreadable, content or mode.
var ErrKeyFile = errors.New("keys: unusable key file")

// Files says where the keys are.
type Files struct {
	// DataDir holds the keys that have no path of their own, and is made when it is
	// missing, mode 0700.
	DataDir string
	// Ticket is a file with hex of at least 32 bytes. Empty: DataDir/ticket.key, made when
	// it is missing. A path that is given must exist, so that a slip of the pen does not
	// make a second key.
	Ticket string
	// Signing is a file with an Ed25519 key, PKCS#8 PEM. Empty: DataDir/signing.pem.
	Signing string
}

// Set is the keys of an installation. The accepted and retired ones check what was signed
// before and sign nothing.
type Set struct {
	Ticket         []byte
	TicketAccepted [][]byte
	Signing        ed25519.PrivateKey
	SigningRetired []ed25519.PublicKey
}

// Load reads the keys and makes those that are missing. Files beside a key that carry its
// name and more are read for checking only: <name>.* (ticket.key.old) and, for passes,
// <stem>*.pem (signing-2026.pem). All problems are reported at once, each with its file.
func Load(f Files) (Set, error) {
	var s Set
	ticketErr := s.loadTicket(f)
	signingErr := s.loadSigning(f)
	if err := errors.Join(ticketErr, signingErr); err != nil {
		return Set{}, err
	}
	return s, nil
}

func (s *Set) loadTicket(f Files) error {
	path, data, err := own(f.Ticket, f.DataDir, "ticket.key", newTicketKey)
	if err != nil {
		return err
	}
	s.Ticket, err = parseTicketKey(path, data)
	return errors.Join(err, eachBeside(path, func(path string, data []byte) error {
		key, err := parseTicketKey(path, data)
		s.TicketAccepted = append(s.TicketAccepted, key)
		return err
	}))
}

func (s *Set) loadSigning(f Files) error {
	path, data, err := own(f.Signing, f.DataDir, "signing.pem", newSigningKey)
	if err != nil {
		return err
	}
	s.Signing, err = parseSigningKey(path, data)
	return errors.Join(err, eachBeside(path, func(path string, data []byte) error {
		key, err := parseSigningKey(path, data)
		if err == nil {
			s.SigningRetired = append(s.SigningRetired, key.Public().(ed25519.PublicKey))
		}
		return err
	}))
}

// own reads the key at given, or the one called name in dir, which it makes when missing.
func own(given, dir, name string, fresh func() ([]byte, error)) (path string, data []byte, err error) {
	if given != "" {
		data, err = read(given)
		return given, data, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, fmt.Errorf("keys: data folder: %w", err)
	}
	path = filepath.Join(dir, name)
	data, err = loadOrMake(path, fresh)
	return path, data, err
}

func newTicketKey() ([]byte, error) {
	var b [32]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	return []byte(hex.EncodeToString(b[:]) + "\n"), nil
}

func newSigningKey() ([]byte, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return pass.MarshalPrivateKeyPEM(key)
}

func parseTicketKey(path string, data []byte) ([]byte, error) {
	key, err := hex.DecodeString(strings.TrimSpace(string(data)))
	if err != nil || len(key) < 32 {
		return nil, fmt.Errorf("%w: %s: want hex of at least 32 bytes", ErrKeyFile, path)
	}
	return key, nil
}

func parseSigningKey(path string, data []byte) (ed25519.PrivateKey, error) {
	key, err := pass.ParsePrivateKeyPEM(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrKeyFile, path, err)
	}
	return key, nil
}
