package mongostore

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// What WeCom's refusals leave behind: a search in the record, a quarantine on
// the staff member, a suspension on the tenant.

// suspensionField is the part of a tenant that Rollcall writes.
const suspensionField = "suspension"

// SetSearch replaces the record's search for a refused member; the zero Search
// ends it.
func (s *Store) SetSearch(ctx context.Context, ref push.Ref, search push.Search) error {
	update := bson.D{kv("$unset", bson.D{kv("search", "")})}
	if search.List != "" {
		update = bson.D{kv("$set", bson.D{kv("search", searchDoc(search))})}
	}
	_, err := s.updateRecord(ctx, "note the search of", ref, byID(refID(ref)), update)
	return err
}

// Quarantine leaves a staff member out until an instant and notes why, for a
// person. A quarantine never becomes shorter by it.
func (s *Store) Quarantine(ctx context.Context, tenant, staff string, until time.Time, why string) error {
	found, err := updateIf(ctx, s.staff, byID(scoped(tenant, staff)), bson.D{
		kv("$max", bson.D{kv("quarantined_until", until)}),
		kv("$set", bson.D{kv("quarantined_why", why)}),
	})
	if err == nil && !found {
		err = ErrUnknownStaff
	}
	if err != nil {
		return fmt.Errorf("quarantine staff %s: %w", staff, err)
	}
	return nil
}

// Suspend replaces a tenant's suspension if its next probe is still the one
// seen (zero: none), in one conditional update: of those who want to make the
// one probe, one may.
func (s *Store) Suspend(ctx context.Context, tenant string, seen time.Time, suspension roster.Suspension) (bool, error) {
	won, err := updateIf(ctx, s.tenants, suspendedUntil(tenant, seen), bson.D{
		kv("$set", bson.D{kv(suspensionField, suspensionDoc(suspension))}),
	})
	if err != nil {
		return false, fmt.Errorf("suspend tenant %s: %w", tenant, err)
	}
	return won, nil
}

// Resume ends a tenant's suspension if its next probe is still the one seen.
func (s *Store) Resume(ctx context.Context, tenant string, seen time.Time) error {
	if _, err := updateIf(ctx, s.tenants, suspendedUntil(tenant, seen), endSuspension()); err != nil {
		return fmt.Errorf("end the suspension of tenant %s: %w", tenant, err)
	}
	return nil
}

// suspendedUntil finds the tenant while its next probe is the one given; a
// tenant without a suspension has none.
func suspendedUntil(tenant string, seen time.Time) bson.D {
	var probe any // null: no such field
	if !seen.IsZero() {
		probe = seen
	}
	return bson.D{kv("_id", tenant), kv(suspensionField+".next_probe", probe)}
}

func endSuspension() bson.D { return bson.D{kv("$unset", bson.D{kv(suspensionField, "")})} }
