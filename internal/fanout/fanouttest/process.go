package fanouttest

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ErrCutOff is what a process that was cut off gets from every call.
var ErrCutOff = errors.New("the process was cut off")

// Process is one of the processes that share a fake. It passes two points in
// every call that it makes with its context, one ahead of the call's effect and
// one behind it, and is cut off at the one that its test chooses: that call and
// all later ones fail and have no effect any more.
type Process struct {
	mu     sync.Mutex
	cut    func(point int) bool
	points int
	at     string // the operation it was cut off in; "": it lives
	end    context.CancelFunc
}

type processKey struct{}

// NewProcess returns a process and the context of its calls, which ends when it
// is cut off. It is cut off at the first point, numbered from 0, for which cut
// reports true; it asks for each of them once, one after the other. End must be
// called in the end.
func NewProcess(ctx context.Context, cut func(point int) bool) (*Process, context.Context) {
	p := &Process{cut: cut}
	ctx, p.end = context.WithCancel(context.WithValue(ctx, processKey{}, p))
	return p, ctx
}

// Never is for a process that is not cut off.
func Never(int) bool { return false }

// At is for a process that is cut off at one point.
func At(n int) func(point int) bool { return func(point int) bool { return point == n } }

// End ends the context of the process.
func (p *Process) End() { p.end() }

// CutOff returns the operation in which the process was cut off, "" while it
// lives.
func (p *Process) CutOff() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at
}

func processOf(ctx context.Context) *Process {
	p, _ := ctx.Value(processKey{}).(*Process)
	return p
}

// pass is one point of an operation. Who belongs to no process passes.
func (p *Process) pass(op string) error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at == "" && p.cut(p.points) {
		p.at = op
		p.end()
	}
	p.points++
	if p.at != "" {
		return fmt.Errorf("%s: %w", op, ErrCutOff)
	}
	return nil
}
