//go:build !unix

package embedded

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

func childAttr() *syscall.SysProcAttr { return nil }

// lock only makes the file: this system has no lock that a child inherits.
func lock(_ context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	return f, nil
}

func inherit(*exec.Cmd, *os.File) {}
