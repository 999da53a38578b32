package mongostore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/errgroup"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Store is push.Store on MongoDB.
type Store struct {
	tenants  *mongo.Collection
	staff    *mongo.Collection
	codes    *mongo.Collection
	counters *mongo.Collection
	records  *mongo.Collection
	now      func() time.Time
}

var _ push.Store = (*Store)(nil)

// Load reads facts and record in two waves: code, counters, record and tenant
// at the same time, then the staff that they name. Of the additions by day it
// reads those of today, yesterday and tomorrow in UTC, which is today wherever
// the tenant is.
func (s *Store) Load(ctx context.Context, ref push.Ref) (roster.Facts, push.Record, error) {
	read := reading{ref: ref, days: daysAround(s.now())}
	err := s.read(ctx, &read, s.readRecord, s.readCode, s.readCounters, s.readTenant)
	if err != nil {
		return roster.Facts{}, push.Record{}, fmt.Errorf("load code %s: %w", ref.Code, err)
	}
	return read.facts, read.record, nil
}

// Facts is Load without the record.
func (s *Store) Facts(ctx context.Context, ref push.Ref) (roster.Facts, error) {
	read := reading{ref: ref, days: daysAround(s.now())}
	err := s.read(ctx, &read, s.readCode, s.readCounters, s.readTenant)
	if err != nil {
		return roster.Facts{}, fmt.Errorf("facts of code %s: %w", ref.Code, err)
	}
	return read.facts, nil
}

// Record reads the record alone. A code that was never pushed has the zero Record
// with Code set.
func (s *Store) Record(ctx context.Context, ref push.Ref) (push.Record, error) {
	read := reading{ref: ref}
	if err := s.readRecord(ctx, &read); err != nil {
		return push.Record{}, fmt.Errorf("record of code %s: %w", ref.Code, err)
	}
	return read.record, nil
}

// reading is what is read of one code so far. The reads of the first wave fill
// different fields of it.
type reading struct {
	ref       push.Ref
	days      [3]roster.Day
	facts     roster.Facts
	record    push.Record
	hasCode   bool
	hasTenant bool
}

type reader func(ctx context.Context, into *reading) error

func (s *Store) read(ctx context.Context, into *reading, wave ...reader) error {
	group, groupCtx := errgroup.WithContext(ctx)
	for _, one := range wave {
		group.Go(func() error { return one(groupCtx, into) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	switch {
	case !into.hasCode:
		return push.ErrUnknownCode
	case into.facts.Code.Tenant != into.ref.Tenant:
		return fmt.Errorf("asked for by tenant %s: %w", into.ref.Tenant, push.ErrWrongTenant)
	case !into.hasTenant:
		return fmt.Errorf("tenant %s: %w", into.ref.Tenant, push.ErrUnknownTenant)
	}
	return s.readStaff(ctx, into)
}

func (s *Store) readCode(ctx context.Context, into *reading) error {
	doc, found, err := findOne[codeDoc](ctx, s.codes, into.ref.Code, fields(codeFields, holdField))
	into.facts.Code, into.hasCode = doc.code(), found
	return err
}

func (s *Store) readTenant(ctx context.Context, into *reading) error {
	doc, found, err := findOne[tenantDoc](ctx, s.tenants, into.ref.Tenant, fields(tenantFields, suspensionField, holdField))
	into.facts.Tenant, into.hasTenant = doc.tenant(), found
	return err
}

func (s *Store) readCounters(ctx context.Context, into *reading) error {
	projection := fields(countersFields, dayFields("days", into.days)...)
	doc, _, err := findOne[countersDoc](ctx, s.counters, into.ref.Code, projection)
	into.facts.Counters = doc.counters()
	return err
}

func (s *Store) readRecord(ctx context.Context, into *reading) error {
	doc, _, err := findOne[recordDoc](ctx, s.records, refID(into.ref), nil)
	into.record = doc.record()
	into.record.Code = into.ref.Code
	return err
}

// readStaff reads everybody the verdict may name in one find. Its batch holds
// them all and one more, so that the server closes the cursor at once.
func (s *Store) readStaff(ctx context.Context, into *reading) error {
	into.facts.Staff = map[string]roster.Staff{}
	ids := listed(into.facts)
	if len(ids) == 0 {
		return nil
	}
	projection := fields(staffFields, append(dayFields("added", into.days), offField)...)
	cursor, err := s.staff.Find(ctx,
		bson.D{kv("_id", bson.D{kv("$in", ids)})},
		options.Find().SetProjection(projection).SetBatchSize(int32(len(ids)+1)))
	if err != nil {
		return fmt.Errorf("find %d staff: %w", len(ids), err)
	}
	var raws []bson.Raw
	if err := cursor.All(ctx, &raws); err != nil {
		return fmt.Errorf("read %d staff: %w", len(ids), err)
	}
	for _, raw := range raws {
		var doc staffDoc
		if err := bson.Unmarshal(raw, &doc); err != nil {
			return fmt.Errorf("staff %v: %w: %w", raw.Lookup("_id"), push.ErrInvalidFacts, err)
		}
		staff, err := doc.staff()
		if err != nil {
			return err
		}
		into.facts.Staff[staff.ID] = staff
	}
	return nil
}

// listed returns the _ids of the staff a verdict may name: members, backups
// and, where the code's policy says so, the tenant's fallback; each once.
func listed(facts roster.Facts) []string {
	tenant := facts.Code.Tenant
	var ids []string
	for _, m := range facts.Code.Members {
		ids = append(ids, scoped(tenant, m.Staff))
	}
	for _, staff := range facts.Code.Backups {
		ids = append(ids, scoped(tenant, staff))
	}
	if facts.Code.OnEmpty == roster.TenantFallback {
		for _, staff := range facts.Tenant.Fallback {
			ids = append(ids, scoped(tenant, staff))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// findOne reads one document by its _id; without one it returns the zero T and
// false.
func findOne[T any](ctx context.Context, from *mongo.Collection, id string, projection bson.D) (T, bool, error) {
	opts := options.FindOne()
	if projection != nil {
		opts.SetProjection(projection)
	}
	var doc, none T
	raw, err := from.FindOne(ctx, byID(id), opts).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return none, false, nil
	}
	if err != nil {
		return none, false, fmt.Errorf("read %s %s: %w", from.Name(), id, err)
	}
	if err := bson.Unmarshal(raw, &doc); err != nil {
		return none, false, fmt.Errorf("%s %s: %w: %w", from.Name(), id, push.ErrInvalidFacts, err)
	}
	return doc, true, nil
}

// fields is the projection that keeps the named fields, and the _id.
func fields(names []string, more ...string) bson.D {
	projection := make(bson.D, 0, len(names)+len(more))
	for _, name := range slices.Concat(names, more) {
		projection = append(projection, kv(name, 1))
	}
	return projection
}

func dayFields(under string, days [3]roster.Day) []string {
	var names []string
	for _, day := range days {
		names = append(names, under+"."+string(day))
	}
	return names
}
