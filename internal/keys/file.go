package keys

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// maxFile bounds a key file, in bytes.
const maxFile = 64 << 10

// loadOrMake makes a missing file by linking a finished one into place: of two processes
// that start at once, one makes the key and both read it.
func loadOrMake(path string, fresh func() ([]byte, error)) ([]byte, error) {
	data, err := read(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	content, err := fresh()
	if err != nil {
		return nil, err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".key") // O_EXCL, mode 0600
	if err != nil {
		return nil, fmt.Errorf("keys: make %s: %w", path, err)
	}
	defer func() { _ = os.Remove(temp.Name()) }()
	_, err = temp.Write(content)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return nil, fmt.Errorf("keys: make %s: %w", path, err)
	}
	if err := os.Link(temp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("keys: make %s: %w", path, err)
	}
	syncDir(filepath.Dir(path))
	return read(path)
}

// syncDir puts a new name on disk. A file system that cannot do this loses at most a key
// that was made within the seconds before a power cut.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// read reads a key that only its owner, and at most the owner's group, may read.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKeyFile, err) // names the path
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKeyFile, err)
	}
	// Windows keeps its permissions elsewhere and shows 0666 for every file.
	if mode := info.Mode().Perm(); mode&0o027 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("%w: %s: others may read or change it (mode %04o); chmod 600 it", ErrKeyFile, path, mode)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKeyFile, err)
	}
	return data, nil
}

// eachBeside visits the files beside path that hold keys for checking.
func eachBeside(path string, use func(path string, data []byte) error) error {
	dir, own := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if e.IsDir() || !beside(own, e.Name()) {
			continue
		}
		data, err := read(dir + e.Name())
		if err == nil {
			err = use(dir+e.Name(), data)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// beside tells whether a file's name is that of a former or coming key of the file own:
// own.* or, for PEM files, stem*.pem.
func beside(own, name string) bool {
	if strings.HasPrefix(name, own+".") {
		return true
	}
	stem, isPEM := strings.CutSuffix(own, ".pem")
	return isPEM && name != own && strings.HasPrefix(name, stem) && strings.HasSuffix(name, ".pem")
}
