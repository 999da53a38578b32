//go:build unix

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// startPatience bounds the wait for a server's first answer: seconds on an
	// idle machine, many times that on a busy one.
	startPatience = 3 * time.Minute
	askEvery      = 100 * time.Millisecond
	// stopGrace is how long a server may take to end by itself.
	stopGrace = 10 * time.Second
)

// A server is one process and its log.
type server struct {
	name string
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when the process is gone
}

// launch starts a program with its output in dir/<name>.log.
func launch(dir, name, program string, args ...string) (*server, error) {
	s := &server{name: name, log: filepath.Join(dir, name+".log"), done: make(chan struct{})}
	log, err := os.Create(s.log)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", name, err)
	}
	s.cmd = exec.Command(program, args...) //nolint:noctx // it is stopped by signal and waited for, not cut off by a context
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = dir, log, log
	s.cmd.SysProcAttr = childAttributes()
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", name, err), log.Close())
	}
	go func() {
		defer close(s.done)
		_ = s.cmd.Wait() // how it ended is in its log
		_ = log.Close()
	}()
	return s, nil
}

// await asks until the server answers. It gives up at once when the process
// ends.
func (s *server) await(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-s.done:
			return fmt.Errorf("%s ended by itself; see %s", s.name, s.log)
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer; see %s: %w", s.name, s.log, err)
		case <-tick.C:
		}
	}
}

// stop returns when the process is gone.
func (s *server) stop() {
	if s == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it fails only when the process has ended
	select {
	case <-s.done:
	case <-time.After(stopGrace):
		_ = s.cmd.Process.Kill()
		<-s.done
	}
}
