package fleet

import "syscall"

// childAttributes lets a process die with the test that started it.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
