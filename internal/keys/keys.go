// Package keys keeps the two secrets of an installation in its data folder: the key that
// signs tickets and the one that signs passes. They are made at the first start and read
// afterwards, so that a restart keeps everybody's place.
package keys

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/anteroom/anteroom/pass"
)

// ErrKeyFile is wrapped by every complaint about a key file's content or mode.
var ErrKeyFile = errors.New("keys: unusable key file")

// Files says where the keys are. Empty paths are in the data folder.
type Files struct {
	DataDir string // made when it is missing, mode 0700
	Ticket  string // hex of at least 32 bytes; default DataDir/ticket.key
	Signing string // Ed25519, PKCS#8 PEM; default DataDir/signing.pem
}

// Set is the keys of an installation. Files beside a key's own, with anything added to
// the name (ticket.key.old, signing.pem.old), are accepted for checking only, so that a
// key can be replaced while people wait.
type Set struct {
	Ticket         []byte
	TicketAccepted [][]byte
	Signing        ed25519.PrivateKey
	SigningRetired []ed25519.PublicKey
}

// Load reads the keys and makes those that are missing.
func Load(f Files) (Set, error) {
	if f.Ticket == "" {
		f.Ticket = filepath.Join(f.DataDir, "ticket.key")
	}
	if f.Signing == "" {
		f.Signing = filepath.Join(f.DataDir, "signing.pem")
	}
	if err := os.MkdirAll(f.DataDir, 0o700); err != nil {
		return Set{}, fmt.Errorf("keys: data folder: %w", err)
	}
	ticket, err := loadOrMake(f.Ticket, newTicketKey)
	if err != nil {
		return Set{}, err
	}
	signing, err := loadOrMake(f.Signing, newSigningKey)
	if err != nil {
		return Set{}, err
	}
	var s Set
	if s.Ticket, err = parseTicketKey(f.Ticket, ticket); err != nil {
		return Set{}, err
	}
	if s.Signing, err = parseSigningKey(f.Signing, signing); err != nil {
		return Set{}, err
	}
	err = eachBeside(f.Ticket, func(path string, data []byte) error {
		key, err := parseTicketKey(path, data)
		s.TicketAccepted = append(s.TicketAccepted, key)
		return err
	})
	if err != nil {
		return Set{}, err
	}
	err = eachBeside(f.Signing, func(path string, data []byte) error {
		key, err := parseSigningKey(path, data)
		if err == nil {
			s.SigningRetired = append(s.SigningRetired, key.Public().(ed25519.PublicKey))
		}
		return err
	})
	return s, err
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
	return pass.MarshalKey(key)
}

func parseTicketKey(path string, data []byte) ([]byte, error) {
	key, err := hex.DecodeString(strings.TrimSpace(string(data)))
	if err != nil || len(key) < 32 {
		return nil, fmt.Errorf("%w: %s: want hex of at least 32 bytes", ErrKeyFile, path)
	}
	return key, nil
}

func parseSigningKey(path string, data []byte) (ed25519.PrivateKey, error) {
	key, err := pass.ParseKey(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrKeyFile, path, err)
	}
	return key, nil
}

// loadOrMake makes a missing file by linking a finished one into place: of two processes
// that start at once, one makes the key and both read it.
func loadOrMake(path string, make func() ([]byte, error)) ([]byte, error) {
	data, err := read(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	fresh, err := make()
	if err != nil {
		return nil, err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".key") // mode 0600
	if err != nil {
		return nil, fmt.Errorf("keys: make %s: %w", path, err)
	}
	defer func() { _ = os.Remove(temp.Name()) }()
	_, err = temp.Write(fresh)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return nil, fmt.Errorf("keys: make %s: %w", path, err)
	}
	if err := os.Link(temp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("keys: make %s: %w", path, err)
	}
	return read(path)
}

func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%w: %s: others may read it (mode %v); chmod 600 it", ErrKeyFile, path, info.Mode().Perm())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return data, nil
}

func eachBeside(path string, use func(path string, data []byte) error) error {
	paths, err := filepath.Glob(path + ".*")
	if err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	for _, p := range paths {
		data, err := read(p)
		if err != nil {
			return err
		}
		if err := use(p, data); err != nil {
			return err
		}
	}
	return nil
}
