//go:build unix

package embedded

import (
	"fmt"
	"os"
	"syscall"
)

// lock takes the data folder for this process; the system gives it back when we end.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%w (%s); choose another --data-dir", ErrInUse, path)
	}
	return func() { _ = f.Close() }, nil
}
