package fleet

import (
	"os"
	"os/exec"
)

// Launcher knows how a role is run: as a program, in a container.
type Launcher interface {
	// Command is what runs the role under a name that is its alone. The role's
	// settings are env, NAME=value; the process may know more of its own. A
	// SIGTERM to the command has to reach the role, and the command has to end
	// as the role does.
	Command(name, role string, env []string) (*exec.Cmd, error)
	// Kill ends a command that runs, and the role with it, as a power cut would.
	Kill(name string, cmd *exec.Cmd) error
}

// Program is the path of a rollcall program, whose processes are children of
// this one and know its environment.
type Program string

// Command runs the program.
func (p Program) Command(_, role string, env []string) (*exec.Cmd, error) {
	cmd := exec.Command(string(p), role) //nolint:noctx // it is stopped by signal and waited for, not cut off by a context
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = childAttributes()
	return cmd, nil
}

// Kill sends SIGKILL.
func (p Program) Kill(_ string, cmd *exec.Cmd) error { return cmd.Process.Kill() }
