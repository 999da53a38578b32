//go:build unix

package stack

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// identity names one process for good. A pid alone does not: the kernel gives
// it to somebody else once its process is gone.
type identity struct {
	PID     int    `json:"pid"`
	Started string `json:"started"` // when it started, as the system tells it
}

// running reports whether exactly this process, not a later one with its pid,
// is alive.
func (id identity) running() bool {
	if id.PID <= 1 {
		return false
	}
	started, err := startOf(id.PID)
	return err == nil && started == id.Started
}

// lifetime says what becomes of a server when the process that started it dies
// without stopping it.
type lifetime int

const (
	diesWithParent lifetime = iota
	outlivesParent
)

// process is a running server: the leader of a session and a process group of
// its own, so that a Ctrl-C in the terminal does not reach it.
type process struct {
	identity
	exited chan struct{} // closed after Wait; nil for a process found by its identity
	err    error         // how it exited; valid once exited is closed
}

// launch starts the command. The goroutine it starts ends with the process;
// stop waits for it.
func launch(cmd *exec.Cmd, life lifetime) (*process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if life == diesWithParent {
		setParentDeathSignal(cmd.SysProcAttr)
	}
	p := &process{exited: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The parent whose death the kernel watches is the thread, so that
		// thread has to live as long as the server.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.exited)
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		<-p.exited
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	if err := p.identify(cmd.Process.Pid); err != nil {
		return nil, errors.Join(err, cmd.Process.Kill())
	}
	return p, nil
}

// identify notes who the process is. One that has exited already keeps an
// empty identity, which is never running.
func (p *process) identify(pid int) error {
	started, err := startOf(pid)
	if err != nil && !errors.Is(err, errNoProcess) {
		return fmt.Errorf("look at process %d: %w", pid, err)
	}
	p.PID, p.Started = pid, started
	return nil
}

// found returns the process of a recorded identity, which another process may
// have started.
func found(id identity) *process { return &process{identity: id} }

// alive reports whether the process still runs.
func (p *process) alive() bool {
	if p.exited == nil {
		return p.running()
	}
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// signal sends sig to the whole process group; nothing when the process is
// gone. A group's number stays reserved as long as its leader lives, so this
// cannot reach a stranger.
func (p *process) signal(sig syscall.Signal) error {
	if !p.alive() {
		return nil
	}
	if err := syscall.Kill(-p.PID, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("send %s to process group %d: %w", sig, p.PID, err)
	}
	return nil
}

// killWait bounds the wait for the kernel to remove a killed process.
const killWait = 10 * time.Second

// stop asks the process to end, and makes it end after grace or when ctx is
// done, whichever is first. It returns when the process is gone.
func (p *process) stop(ctx context.Context, grace time.Duration) error {
	if err := p.signal(syscall.SIGTERM); err != nil {
		return err
	}
	if p.gone(ctx, grace) {
		return nil
	}
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	if !p.gone(context.WithoutCancel(ctx), killWait) {
		return fmt.Errorf("process %d is still there %s after SIGKILL", p.PID, killWait)
	}
	return nil
}

// gone waits at most limit for the process to end and reports whether it did.
func (p *process) gone(ctx context.Context, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return poll(ctx, 20*time.Millisecond, func() bool { return !p.alive() }) == nil
}

// poll calls done at once and then at every interval until it reports true or
// ctx ends.
func poll(ctx context.Context, interval time.Duration, done func() bool) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
	return nil
}
