package keys_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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

func TestLoad_MakesAPrivateFolderAndFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "data")
	first := load(t, keys.Files{DataDir: dir})
	again := load(t, keys.Files{DataDir: dir})
	if len(first.Ticket) != 32 || !bytes.Equal(first.Ticket, again.Ticket) || !first.Signing.Equal(again.Signing) {
		t.Errorf("a second start has other keys (ticket key of %d bytes)", len(first.Ticket))
	}
	for name, want := range map[string]os.FileMode{"": 0o700, "ticket.key": 0o600, "signing.pem": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != want && runtime.GOOS != "windows" {
			t.Errorf("%q has mode %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 2 {
		t.Errorf("the folder has %d files, want 2: %v", len(entries), entries)
	}
}

func TestLoad_RetiredKeysAreAccepted(t *testing.T) {
	t.Parallel()
	for name, rename := range map[string]map[string]string{
		"anything added":   {"ticket.key": "ticket.key.old", "signing.pem": "signing.pem.old"},
		"another pem":      {"ticket.key": "ticket.key.2026", "signing.pem": "signing-2026.pem"},
		"odd folder names": {"ticket.key": "ticket.key.[1]", "signing.pem": "signing.pem.*"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data[1]")
			before := load(t, keys.Files{DataDir: dir})
			for from, to := range rename {
				if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
					t.Fatal(err)
				}
			}
			after := load(t, keys.Files{DataDir: dir})
			if len(after.TicketAccepted) != 1 || !bytes.Equal(after.TicketAccepted[0], before.Ticket) {
				t.Errorf("%d ticket keys are accepted, want the former one", len(after.TicketAccepted))
			}
			if len(after.SigningRetired) != 1 || !after.SigningRetired[0].Equal(before.Signing.Public()) {
				t.Errorf("%d signing keys are accepted, want the former one", len(after.SigningRetired))
			}
			if bytes.Equal(after.Ticket, before.Ticket) || after.Signing.Equal(before.Signing) {
				t.Error("a key was not replaced")
			}
		})
	}
}

func TestLoad_PathsOfTheirOwn(t *testing.T) {
	t.Parallel()
	there := t.TempDir()
	made := load(t, keys.Files{DataDir: there})
	files := keys.Files{Ticket: filepath.Join(there, "ticket.key"), Signing: filepath.Join(there, "signing.pem")}
	if got := load(t, files); !bytes.Equal(got.Ticket, made.Ticket) || !got.Signing.Equal(made.Signing) {
		t.Error("the keys are not those of the given files")
	}
	if err := os.Chmod(files.Ticket, 0o640); err != nil { // as mounted secrets often are
		t.Fatal(err)
	}
	load(t, files)
	files.Ticket, files.Signing = filepath.Join(there, "tickets"), filepath.Join(there, "sign")
	_, err := keys.Load(files)
	for _, path := range []string{files.Ticket, files.Signing} {
		if !errors.Is(err, keys.ErrKeyFile) || !strings.Contains(err.Error(), path) {
			t.Errorf("Load of missing files says %v, want both paths", err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s was made, though it was given", path)
		}
	}
}

func load(t *testing.T, f keys.Files) keys.Set {
	t.Helper()
	s, err := keys.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	return s
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
		"writable by group": {"ticket.key", strings.Repeat("00", 32), 0o620},
		"retired is short":  {"ticket.key.old", "00", 0o600},
		"empty":             {"ticket.key", "", 0o600},
		"not a signing key": {"signing.pem", "hello", 0o600},
		"retired is no key": {"signing-1.pem", "hello", 0o600},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && c.mode != 0o600 {
				t.Skip("Windows has no such modes")
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.content), c.mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Join(dir, c.file), c.mode); err != nil { // whatever the umask is
				t.Fatal(err)
			}
			_, err := keys.Load(keys.Files{DataDir: dir})
			if !errors.Is(err, keys.ErrKeyFile) || !bytes.Contains([]byte(err.Error()), []byte(c.file)) {
				t.Errorf("Load says %v", err)
			}
		})
	}
}
