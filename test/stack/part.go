//go:build unix

package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// The names of the parts, as they stand in progress lines and file names.
const (
	partPulsar = "pulsar"
	partMongo  = "mongo"
	partRedis  = "redis"
)

const (
	// startPatience bounds the wait for a server we started to answer. Pulsar
	// takes about 8 s on two idle cores, and ten times that on very busy ones; a
	// server that dies is noticed at once.
	startPatience = 5 * time.Minute
	// externalPatience bounds the wait for a server somebody else runs.
	externalPatience = 20 * time.Second
	// probeEvery is the pace of questions to a server that does not answer yet.
	probeEvery = 100 * time.Millisecond
	// stopGrace is how long a server may take to end by itself.
	stopGrace = 15 * time.Second
)

// ErrExternal is returned when a part should be stopped or paused that the
// stack did not start.
var ErrExternal = errors.New("the server is not the stack's own")

// Part is one server of a stack. Its methods may be called from several
// goroutines; they wait for each other.
type Part struct {
	name   string
	logs   string // the folder of the log files
	ports  []int  // the ports it listens on
	life   lifetime
	states *stateFile
	report func(part, message string)

	// command returns the server's command line, after installing it where
	// that is needed; nil for a server that the stack does not own.
	command func(ctx context.Context) (*exec.Cmd, error)
	// probe succeeds when the server really answers.
	probe func(ctx context.Context) error

	mu   sync.Mutex
	proc *process // nil when it was never started
}

// Name returns "pulsar", "mongo" or "redis".
func (p *Part) Name() string { return p.name }

// Log returns the file with what the server printed; none exists for a server
// that the stack does not own.
func (p *Part) Log() string { return filepath.Join(p.logs, p.name+".log") }

// Start returns when the server answers. One that answers already stays as it
// is.
func (p *Part) Start(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.command == nil {
		return p.awaitExternal(ctx)
	}
	if p.running() && p.probe(ctx) == nil {
		p.report(p.name, fmt.Sprintf("runs already (pid %d)", p.proc.PID))
		return nil
	}
	if err := p.end(ctx); err != nil {
		return err
	}
	if err := p.begin(ctx); err != nil {
		return errors.Join(fmt.Errorf("start %s: %w", p.name, err), p.end(ctx))
	}
	return nil
}

// Stop returns when the server's process is gone. Its port and, but for the
// MongoDB stand-in, its data are there for the next Start.
func (p *Part) Stop(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.external() {
		return fmt.Errorf("stop %s: %w", p.name, ErrExternal)
	}
	return p.end(ctx)
}

// Restart stops the server and starts it again on the same port.
func (p *Part) Restart(ctx context.Context) error {
	if err := p.Stop(ctx); err != nil {
		return err
	}
	return p.Start(ctx)
}

// Pause freezes the server: its connections stay open and nothing answers, as
// when a machine hangs. It returns when every thread stands still.
func (p *Part) Pause(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.send(syscall.SIGSTOP); err != nil {
		return err
	}
	err := poll(ctx, time.Millisecond, func() bool { return frozen(p.proc.PID) || !p.running() })
	if err != nil {
		return fmt.Errorf("pause %s: %w", p.name, err)
	}
	return nil
}

// Resume lets a paused server go on.
func (p *Part) Resume() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.send(syscall.SIGCONT)
}

// send signals the server.
func (p *Part) send(sig syscall.Signal) error {
	if p.external() {
		return fmt.Errorf("signal %s: %w", p.name, ErrExternal)
	}
	if !p.running() {
		return fmt.Errorf("signal %s: %w", p.name, errNoProcess)
	}
	return p.proc.signal(sig)
}

// external reports whether the part has nothing of the stack's own: neither a
// command nor a process of an earlier start.
func (p *Part) external() bool { return p.command == nil && p.proc == nil }

func (p *Part) running() bool { return p.proc != nil && p.proc.alive() }

// end stops the process, if there is one, and forgets it.
func (p *Part) end(ctx context.Context) error {
	if p.proc == nil {
		return nil
	}
	wasRunning := p.running()
	// A paused process would take SIGTERM only when it goes on.
	err := errors.Join(p.proc.signal(syscall.SIGCONT), p.proc.stop(ctx, stopGrace))
	if err != nil {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	if wasRunning {
		p.report(p.name, "stopped")
	}
	p.proc = nil
	return p.states.dropProcess(p.name)
}

// begin starts the process and waits until it answers.
func (p *Part) begin(ctx context.Context) error {
	cmd, err := p.command(ctx)
	if err != nil {
		return err
	}
	for _, port := range p.ports {
		if !available(port) {
			return fmt.Errorf("port %d is taken by another process; choose another with ROLLCALL_STACK_*_PORT", port)
		}
	}
	since := time.Now()
	if err := p.spawn(cmd); err != nil {
		return err
	}
	p.report(p.name, fmt.Sprintf("starting (pid %d)", p.proc.PID))
	if err := p.awaitAnswer(ctx); err != nil {
		return err
	}
	p.report(p.name, fmt.Sprintf("ready after %.1f s", time.Since(since).Seconds()))
	return nil
}

// spawn starts the process with its output in the log, and records it.
func (p *Part) spawn(cmd *exec.Cmd) error {
	if err := os.MkdirAll(p.logs, 0o700); err != nil {
		return fmt.Errorf("make the folder of the logs: %w", err)
	}
	log, err := os.OpenFile(p.Log(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	p.proc, err = launch(cmd, p.life)
	if err := errors.Join(err, log.Close()); err != nil {
		return err
	}
	return p.states.setProcess(p.name, p.proc.identity)
}

// awaitAnswer waits until the server that was just started answers. It gives
// up at once when the process ends.
func (p *Part) awaitAnswer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	var answer error
	waited := poll(ctx, probeEvery, func() bool {
		if !p.proc.alive() {
			return true
		}
		answer = p.probe(ctx)
		return answer == nil
	})
	if !p.proc.alive() {
		return fmt.Errorf("it ended by itself; the last lines of %s:\n%s", p.Log(), p.lastLog())
	}
	if waited != nil {
		return fmt.Errorf("no answer (%w); see %s: last attempt: %w", waited, p.Log(), answer)
	}
	return nil
}

// awaitExternal waits a little for a server that somebody else runs.
func (p *Part) awaitExternal(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, externalPatience)
	defer cancel()
	var answer error
	waited := poll(ctx, probeEvery, func() bool {
		answer = p.probe(ctx)
		return answer == nil
	})
	if waited != nil {
		return fmt.Errorf("the %s named by the environment does not answer: %w", p.name, answer)
	}
	p.report(p.name, "uses the server named by the environment")
	return nil
}

func (p *Part) lastLog() string {
	text, err := os.ReadFile(p.Log())
	if err != nil {
		return err.Error()
	}
	return lastLines(text, 15)
}
