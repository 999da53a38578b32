//go:build unix

package stack

import (
	"context"
	"fmt"
)

// Status tells how a part is.
type Status struct {
	Part     string
	Address  string
	PID      int   // 0 when no process of the stack runs
	External bool  // named by the environment
	Answer   error // nil when it answers
}

// String is one line for a person.
func (s Status) String() string {
	switch {
	case s.External && s.Answer == nil:
		return "answers (named by the environment)"
	case s.External:
		return fmt.Sprintf("does not answer (named by the environment): %v", s.Answer)
	case s.PID == 0:
		return "stopped"
	case s.Answer != nil:
		return fmt.Sprintf("pid %d does not answer: %v", s.PID, s.Answer)
	default:
		return fmt.Sprintf("answers (pid %d)", s.PID)
	}
}

// Status asks every part how it is.
func (s *Stack) Status(ctx context.Context) []Status {
	addresses := []string{s.PulsarURL, s.MongoURI, s.RedisURL}
	var all []Status
	for i, part := range s.Parts() {
		status := part.status(ctx)
		status.Address = addresses[i]
		all = append(all, status)
	}
	return all
}

func (p *Part) status(ctx context.Context) Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	status := Status{Part: p.name, External: p.external()}
	if p.running() {
		status.PID = p.proc.PID
	}
	if status.External || status.PID != 0 {
		status.Answer = p.probe(ctx)
	}
	return status
}

// Running reports whether any server of the stack's own runs.
func (s *Stack) Running() bool {
	for _, part := range s.Parts() {
		if part.isRunning() {
			return true
		}
	}
	return false
}

func (p *Part) isRunning() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running()
}

// Install downloads what Start would download and starts nothing.
func (s *Stack) Install(ctx context.Context) error {
	return s.each(ctx, (*Part).install)
}

// install builds the command, which installs what it needs, and drops it.
func (p *Part) install(ctx context.Context) error {
	if p.command == nil {
		return nil
	}
	if _, err := p.command(ctx); err != nil {
		return fmt.Errorf("install %s: %w", p.name, err)
	}
	return nil
}
