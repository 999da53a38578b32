package leasetest

import (
	"context"
	"sync"

	"github.com/rollcall-dev/rollcall/internal/backstop/lease"
)

// Memory is a lease.Store in memory. Its methods are safe for concurrent use.
type Memory struct {
	// Before may refuse an operation ("read", "take", "renew", "release"), or
	// delay it. Set it while nobody uses the store.
	Before func(ctx context.Context, op string) error

	mu     sync.Mutex
	leases map[string]lease.State
}

var _ lease.Store = (*Memory)(nil)

// NewMemory returns a store without leases.
func NewMemory() *Memory { return &Memory{leases: map[string]lease.State{}} }

// Read returns a lease.
func (m *Memory) Read(ctx context.Context, role string) (lease.State, error) {
	var s lease.State
	err := m.do(ctx, "read", func() { s = m.leases[role] })
	return s, err
}

// Take replaces a lease whose token and renewals are still those seen.
func (m *Memory) Take(ctx context.Context, role string, seen, next lease.State) (bool, error) {
	var took bool
	err := m.do(ctx, "take", func() {
		have := m.leases[role]
		if took = have.Token == seen.Token && have.Renewals == seen.Renewals; took {
			m.leases[role] = next
		}
	})
	return took, err
}

// Renew counts a renewal of a lease whose token is still the one named.
func (m *Memory) Renew(ctx context.Context, role string, token int64) (bool, error) {
	var renewed bool
	err := m.do(ctx, "renew", func() {
		have := m.leases[role]
		if renewed = have.Token == token && have.Holder != ""; renewed {
			have.Renewals++
			m.leases[role] = have
		}
	})
	return renewed, err
}

// Release frees a lease whose token is still the one named.
func (m *Memory) Release(ctx context.Context, role string, token int64) error {
	return m.do(ctx, "release", func() {
		if have := m.leases[role]; have.Token == token {
			have.Holder = ""
			m.leases[role] = have
		}
	})
}

func (m *Memory) do(ctx context.Context, op string, effect func()) error {
	if m.Before != nil {
		if err := m.Before(ctx, op); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	effect()
	return nil
}
