//go:build !linux

package campaign

import "syscall"

func childAttributes() *syscall.SysProcAttr { return nil }
