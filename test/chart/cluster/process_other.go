//go:build unix && !linux

package cluster

import "syscall"

// childAttributes keeps a Ctrl-C in the terminal from a server.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
