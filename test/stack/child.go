//go:build unix

package stack

import (
	"context"
	"os/exec"
)

// Child is a program that a test runs beside the servers. It dies with the
// process that launched it.
type Child struct{ proc *process }

// Launch starts the program as the leader of a process group of its own. It says
// nothing of whether the program is ready.
func Launch(cmd *exec.Cmd) (*Child, error) {
	proc, err := launch(cmd, diesWithParent)
	if err != nil {
		return nil, err
	}
	return &Child{proc}, nil
}

// Exited is closed when the program has ended.
func (c *Child) Exited() <-chan struct{} { return c.proc.exited }

// Stop asks the program to end, makes it end when it does not within 15 s or
// before ctx does, and returns when it is gone. It is safe to call more than
// once.
func (c *Child) Stop(ctx context.Context) error { return c.proc.stop(ctx, stopGrace) }
