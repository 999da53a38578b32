//go:build !linux

package fleet

import "syscall"

func childAttributes() *syscall.SysProcAttr { return nil }
