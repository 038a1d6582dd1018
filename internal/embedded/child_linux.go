package embedded

import "syscall"

// childAttr keeps the terminal's interrupt from the child, which we end ourselves, and
// ends the child when this process is killed.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
