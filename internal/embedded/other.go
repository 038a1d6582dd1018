//go:build !unix

package embedded

import "syscall"

func childAttr() *syscall.SysProcAttr { return nil }

func lock(string) (func(), error) { return func() {}, nil }
