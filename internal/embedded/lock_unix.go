//go:build unix

package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// lockWait is how long the child of a crashed process may take to end before its folder
// counts as in use.
const lockWait = 3 * time.Second

// lock takes the data folder: closing the file gives it back, once the child that
// inherited the file has ended too.
func lock(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = f.Close()
			return nil, fmt.Errorf("embedded: lock %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, fmt.Errorf("%w (%s is locked); stop it, or choose another --data-dir", ErrInUse, path)
		case <-tick.C:
		}
	}
}

// inherit lets the child hold the lock as well.
func inherit(cmd *exec.Cmd, held *os.File) { cmd.ExtraFiles = []*os.File{held} }
