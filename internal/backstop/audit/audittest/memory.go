package audittest

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
)

// Passes is audit.Passes in memory.
type Passes struct {
	// Fail, if set, is asked before each call; its error is the call's.
	Fail func() error

	mu   sync.Mutex
	pass audit.Pass
}

var _ audit.Passes = (*Passes)(nil)

// Get returns the pass.
func (p *Passes) Get(context.Context) (audit.Pass, error) {
	if err := p.fail(); err != nil {
		return audit.Pass{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return clone(p.pass), nil
}

// Swap stores a pass if nobody was faster.
func (p *Passes) Swap(_ context.Context, pass audit.Pass) (bool, error) {
	if err := p.fail(); err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pass.Version != pass.Version {
		return false, nil
	}
	p.pass = clone(pass)
	p.pass.Version++
	return true, nil
}

func (p *Passes) fail() error {
	if p.Fail == nil {
		return nil
	}
	return p.Fail()
}

func clone(p audit.Pass) audit.Pass {
	p.Chunks, p.Tally, p.Last.Tally = slices.Clone(p.Chunks), maps.Clone(p.Tally), maps.Clone(p.Last.Tally)
	return p
}
