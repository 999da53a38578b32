//go:build unix

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/rollcall-dev/rollcall/test/stack"
)

const (
	// startPatience bounds the wait for a server's first answer: seconds on an
	// idle machine, many times that on a busy one.
	startPatience = 3 * time.Minute
	askEvery      = 100 * time.Millisecond
)

// A server is one process and its log.
type server struct {
	name  string
	child *stack.Child
	log   string
}

// launch starts a program with its output in dir/<name>.log.
func launch(dir, name, program string, args ...string) (*server, error) {
	s := &server{name: name, log: filepath.Join(dir, name+".log")}
	log, err := os.Create(s.log)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", name, err)
	}
	cmd := exec.Command(program, args...) //nolint:noctx // it is stopped by signal and waited for, not cut off by a context
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	s.child, err = stack.Launch(cmd)
	err = errors.Join(err, log.Close()) // the program has its own
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
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
		case <-s.child.Exited():
			return fmt.Errorf("%s ended by itself; see %s", s.name, s.log)
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer; see %s: %w", s.name, s.log, err)
		case <-tick.C:
		}
	}
}

// stop returns when the process is gone.
func (s *server) stop(ctx context.Context) {
	if s != nil {
		_ = s.child.Stop(ctx) // how it ended is in its log
	}
}
