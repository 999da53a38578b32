package pushtest

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// What WeCom's refusals leave in the store.

// SetSearch replaces the search.
func (s *Store) SetSearch(ctx context.Context, ref push.Ref, search push.Search) error {
	_, err := s.change(ctx, OpSetSearch, ref, func(r *push.Record) bool {
		r.Search = search
		return true
	})
	return err
}

// Quarantine leaves a staff member out, and never for less than before.
func (s *Store) Quarantine(ctx context.Context, tenant, staff string, until time.Time, _ string) error {
	found := false
	err := s.do(ctx, OpQuarantine, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		key := staffKey{tenant, staff}
		who, ok := s.staff[key]
		if found = ok; !found {
			return
		}
		if until = stored(until); until.After(who.QuarantinedUntil) {
			who.QuarantinedUntil = until
		}
		s.staff[key] = who
	})
	if err == nil && !found {
		err = fmt.Errorf("quarantine staff %s: unknown", staff)
	}
	return err
}

// Suspend replaces a suspension whose next probe is still the one seen.
func (s *Store) Suspend(ctx context.Context, tenant string, seen time.Time, suspension roster.Suspension) (bool, error) {
	return s.changeSuspension(ctx, OpSuspend, tenant, seen, suspension)
}

// Resume ends a suspension whose next probe is still the one seen.
func (s *Store) Resume(ctx context.Context, tenant string, seen time.Time) error {
	_, err := s.changeSuspension(ctx, OpResume, tenant, seen, roster.Suspension{})
	return err
}

func (s *Store) changeSuspension(ctx context.Context, op, id string, seen time.Time, to roster.Suspension) (bool, error) {
	changed := false
	err := s.do(ctx, op, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		tenant, ok := s.tenants[id]
		if !ok || !tenant.Suspension.NextProbe.Equal(stored(seen)) {
			return
		}
		to.Since, to.NextProbe = stored(to.Since), stored(to.NextProbe)
		tenant.Suspension, changed = to, true
		s.tenants[id] = tenant
	})
	return changed && err == nil, err
}
