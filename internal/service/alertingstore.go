package service

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/alert"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// manyIntents is how many calls of one code without a known outcome are told
// of, well before the record keeps no more.
const manyIntents = mongostore.MaxIntents * 3 / 4

// alertingStore tells a person of what only a person can mend: a refused
// member, refused credentials, calls whose outcomes stay unknown.
type alertingStore struct {
	push.Store
	raise raise
}

// Load looks at the intents that it reads.
func (s alertingStore) Load(ctx context.Context, ref push.Ref) (roster.Facts, push.Record, error) {
	facts, record, err := s.Store.Load(ctx, ref)
	if open := len(record.Intents); err == nil && open >= manyIntents {
		s.raise(ctx, alert.IntentsOpen(ref, open, mongostore.MaxIntents))
	}
	return facts, record, err
}

// Quarantine tells of the member once it is stored.
func (s alertingStore) Quarantine(ctx context.Context, tenant, staff string, until time.Time, why string) error {
	err := s.Store.Quarantine(ctx, tenant, staff, until, why)
	if err == nil {
		s.raise(ctx, alert.Quarantined(tenant, staff, why))
	}
	return err
}

// Suspend tells of a tenant that was not suspended before.
func (s alertingStore) Suspend(ctx context.Context, tenant string, seen time.Time, suspension roster.Suspension) (bool, error) {
	won, err := s.Store.Suspend(ctx, tenant, seen, suspension)
	if won && seen.IsZero() {
		s.raise(ctx, alert.Suspended(tenant, suspension.Detail))
	}
	return won, err
}
