package keys_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/anteroom/anteroom/internal/keys"
)

func TestLoad_TwoFirstStartsAtOnceAgree(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	var wg sync.WaitGroup
	sets := make([]keys.Set, 8)
	for i := range sets {
		wg.Go(func() {
			var err error
			if sets[i], err = keys.Load(keys.Files{DataDir: dir}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, s := range sets[1:] {
		if !bytes.Equal(s.Ticket, sets[0].Ticket) || !s.Signing.Equal(sets[0].Signing) {
			t.Fatal("two starts at once made different keys")
		}
	}
}

func TestLoad_RetiredKeysAreAccepted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before, err := keys.Load(keys.Files{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ticket.key", "signing.pem"} {
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(dir, name+".old")); err != nil {
			t.Fatal(err)
		}
	}
	after, err := keys.Load(keys.Files{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if len(after.TicketAccepted) != 1 || !bytes.Equal(after.TicketAccepted[0], before.Ticket) || len(after.SigningRetired) != 1 {
		t.Errorf("after a rotation %d ticket keys and %d signing keys are accepted, want 1 and 1", len(after.TicketAccepted), len(after.SigningRetired))
	}
}

func TestLoad_BadFileIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, content string
		mode          os.FileMode
	}{
		"short ticket key":  {"ticket.key", "abcd", 0o600},
		"not hex":           {"ticket.key", "hello", 0o600},
		"readable by all":   {"ticket.key", "00", 0o644},
		"not a signing key": {"signing.pem", "hello", 0o600},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.content), c.mode); err != nil {
				t.Fatal(err)
			}
			_, err := keys.Load(keys.Files{DataDir: dir})
			if !errors.Is(err, keys.ErrKeyFile) || !bytes.Contains([]byte(err.Error()), []byte(c.file)) {
				t.Errorf("Load says %v", err)
			}
		})
	}
}
