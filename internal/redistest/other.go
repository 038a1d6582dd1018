//go:build !unix

package redistest

import (
	"errors"
	"os"
	"syscall"
)

var errPause = errors.New("redistest: this system cannot pause a process")

func childAttr() *syscall.SysProcAttr { return nil }
func pause(*os.Process) error         { return errPause }
func resume(*os.Process) error        { return errPause }
