//go:build unix && !linux

package redistest

import "syscall"

// childAttr puts the child into its own process group. Only Linux can end it when the
// test process is killed; Main ends it in every other case.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
