package campaign

import "syscall"

// childAttributes lets a process die with the campaign that started it.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
