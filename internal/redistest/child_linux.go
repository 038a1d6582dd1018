package redistest

import "syscall"

// childAttr puts the child into its own process group and ends it with us.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
