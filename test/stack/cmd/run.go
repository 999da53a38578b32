//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/rollcall-dev/rollcall/test/stack"
)

// run starts a stack for one command and returns the command's exit status.
// The stack's folder goes when the command succeeded and stays, for its logs,
// when it did not.
func (c *command) run(ctx context.Context) (int, error) {
	if len(c.args) == 0 {
		return exitUsage, errNoCommand
	}
	dir, err := os.MkdirTemp("", "rollcall-run-*")
	if err != nil {
		return exitFailed, fmt.Errorf("make the stack's folder: %w", err)
	}
	c.options.Dir, c.options.Ports = dir, stack.Ports{}
	s, err := stack.Start(ctx, c.options)
	if err != nil {
		return exitFailed, err
	}
	status, err := c.child(ctx, s)
	err = errors.Join(err, s.Stop(context.WithoutCancel(ctx)))
	if status != 0 || err != nil {
		_, _ = fmt.Fprintf(c.stderr, "stack: the command ended with status %d; the servers' logs are in %s\n", status, s.Logs())
		return max(status, exitFailed), err
	}
	return 0, os.RemoveAll(dir)
}

// child runs the command with the stack's addresses and forwards signals to
// it. It ends only with the command.
func (c *command) child(ctx context.Context, s *stack.Stack) (int, error) {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.args[0], c.args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, c.stdout, c.stderr
	cmd.Env = append(os.Environ(), s.Env()...)
	if err := cmd.Start(); err != nil {
		return exitFailed, fmt.Errorf("start the command: %w", err)
	}
	stop := forward(cmd.Process)
	defer stop()
	return exitStatus(cmd.Wait())
}

// forward passes signals on until stop is called, which waits for the
// goroutine.
func forward(to *os.Process) (stop func()) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, forwarded()...)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for sig := range signals {
			// It fails only when the command has just ended.
			_ = to.Signal(sig)
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
		<-done
	}
}

// forwarded returns the signals to pass on. A Ctrl-C in a terminal reaches the
// command by itself, since it is in our process group.
func forwarded() []os.Signal {
	signals := []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
	if info, err := os.Stdin.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		signals = append(signals, syscall.SIGINT)
	}
	return signals
}

// exitStatus turns the end of a command into a status as a shell would: 128
// and the signal's number for one that a signal ended.
func exitStatus(err error) (int, error) {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		if err != nil {
			return exitFailed, fmt.Errorf("wait for the command: %w", err)
		}
		return 0, nil
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return exit.ExitCode(), nil
}
