package cluster

import "syscall"

// childAttributes lets a server die with the process that started it, and keeps
// a Ctrl-C in the terminal from it.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
