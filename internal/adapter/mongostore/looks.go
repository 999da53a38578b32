package mongostore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/errgroup"

	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Looks reads facts and records of many codes at a time, for the audit: five
// finds by _id for however many codes, and one for every thousand staff.
type Looks struct {
	tenants  *mongo.Collection
	staff    *mongo.Collection
	codes    *mongo.Collection
	counters *mongo.Collection
	records  *mongo.Collection
	dirty    *mongo.Collection
	shadows  *mongo.Collection
	now      func() time.Time
}

var (
	_ audit.Codes   = (*Looks)(nil)
	_ audit.Records = (*Looks)(nil)
)

// Looks returns the audit's reader.
func (d *Database) Looks() *Looks {
	return &Looks{
		tenants:  d.db.Collection(tenantsCollection),
		staff:    d.db.Collection(staffCollection),
		codes:    d.db.Collection(codesCollection),
		counters: d.db.Collection(countersCollection),
		records:  d.db.Collection(recordsCollection),
		dirty:    d.db.Collection(dirtyCollection),
		shadows:  d.db.Collection(shadowsCollection),
		now:      d.now,
	}
}

// Page returns at most limit codes after an ID, in the order of their IDs.
func (l *Looks) Page(ctx context.Context, after string, limit int) ([]audit.Look, error) {
	filter := bson.D{}
	if after != "" {
		filter = bson.D{kv("_id", bson.D{kv("$gt", after)})}
	}
	opts := page(limit).SetSort(bson.D{kv("_id", 1)}).SetProjection(fields(codeFields, holdField))
	raws, err := findRaw(ctx, l.codes, filter, opts)
	if err != nil {
		return nil, fmt.Errorf("read codes after %q: %w", after, err)
	}
	looks := make([]audit.Look, 0, len(raws))
	for _, raw := range raws {
		looks = append(looks, lookAt(raw))
	}
	return looks, l.complete(ctx, looks)
}

// Of returns the codes named, in their order.
func (l *Looks) Of(ctx context.Context, refs []push.Ref) ([]audit.Look, error) {
	ids := make([]string, len(refs))
	for i, ref := range refs {
		ids[i] = ref.Code
	}
	raws, err := findByIDs(ctx, l.codes, ids, fields(codeFields, holdField))
	if err != nil {
		return nil, fmt.Errorf("read %d codes: %w", len(refs), err)
	}
	looks := make([]audit.Look, len(refs))
	for i, ref := range refs {
		raw, there := raws[ref.Code]
		if !there {
			looks[i] = audit.Look{Ref: ref, Wrong: push.ErrUnknownCode}
			continue
		}
		looks[i] = lookAt(raw)
		if looks[i].Tenant != ref.Tenant {
			looks[i] = audit.Look{Ref: ref, Wrong: push.ErrWrongTenant}
		}
	}
	return looks, l.complete(ctx, looks)
}

// lookAt decodes a code. One that cannot be read still has its names, if it has
// them.
func lookAt(raw bson.Raw) audit.Look {
	var doc codeDoc
	if err := bson.Unmarshal(raw, &doc); err != nil {
		var names struct {
			ID     string `bson:"_id"`
			Tenant string `bson:"tenant"`
		}
		_ = bson.Unmarshal(raw, &names) // as far as it goes
		return audit.Look{Ref: push.Ref{Tenant: names.Tenant, Code: names.ID}, Wrong: fmt.Errorf("%w: %w", push.ErrInvalidFacts, err)}
	}
	return audit.Look{Ref: push.Ref{Tenant: doc.Tenant, Code: doc.ID}, Facts: roster.Facts{Code: doc.code()}}
}

// complete fills in what stands beside the codes: first by the codes' own _ids,
// then the staff that they name.
func (l *Looks) complete(ctx context.Context, looks []audit.Look) error {
	if len(looks) == 0 {
		return nil
	}
	days := daysAround(l.now())
	codes, refs, tenants := idsOfLooks(looks)
	var counters, records, dirty, tenantDocs map[string]bson.Raw
	group, groupCtx := errgroup.WithContext(ctx)
	for _, one := range []struct {
		into       *map[string]bson.Raw
		from       *mongo.Collection
		ids        []string
		projection bson.D
	}{
		{&counters, l.counters, codes, fields(countersFields, dayFields("days", days)...)},
		{&records, l.records, refs, nil},
		{&dirty, l.dirty, refs, fields([]string{"_id"})},
		{&tenantDocs, l.tenants, tenants, fields(tenantFields, suspensionField, holdField)},
	} {
		group.Go(func() (err error) {
			*one.into, err = findByIDs(groupCtx, one.from, one.ids, one.projection)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i := range looks {
		fill(&looks[i], counters, records, dirty, tenantDocs)
	}
	if err := l.fillNoted(ctx, looks); err != nil {
		return err
	}
	return l.fillStaff(ctx, looks, days)
}

// fillNoted reads what was noted of the codes in shadow mode, if there are any.
func (l *Looks) fillNoted(ctx context.Context, looks []audit.Look) error {
	var ids []string
	for i := range looks {
		if looks[i].Wrong == nil && looks[i].Facts.Shadowed() {
			ids = append(ids, refID(looks[i].Ref))
		}
	}
	noted, err := findByIDs(ctx, l.shadows, ids, fields([]string{"ours.hash"}))
	if err != nil {
		return err
	}
	for i := range looks {
		if raw, there := noted[refID(looks[i].Ref)]; there {
			looks[i].Noted, _ = raw.Lookup("ours", "hash").StringValueOK()
		}
	}
	return nil
}

func idsOfLooks(looks []audit.Look) (codes, refs, tenants []string) {
	for _, look := range looks {
		codes = append(codes, look.Code)
		refs = append(refs, refID(look.Ref))
		tenants = append(tenants, look.Tenant)
	}
	slices.Sort(tenants)
	return codes, refs, slices.Compact(tenants)
}

// fill reads what stands beside one code. What cannot be read is wrong.
func fill(look *audit.Look, counters, records, dirty, tenants map[string]bson.Raw) {
	ref := refID(look.Ref)
	_, look.Dirty = dirty[ref]
	record, err := unmarshalled[recordDoc](records[ref])
	look.Record = record.record()
	look.Record.Code = look.Code
	if look.Wrong != nil {
		return
	}
	counted, countersErr := unmarshalled[countersDoc](counters[look.Code])
	tenant, tenantErr := unmarshalled[tenantDoc](tenants[look.Tenant])
	look.Facts.Counters, look.Facts.Tenant = counted.counters(), tenant.tenant()
	if err = errors.Join(err, countersErr, tenantErr); err != nil {
		look.Wrong = err
	} else if _, there := tenants[look.Tenant]; !there {
		look.Wrong = fmt.Errorf("tenant %s: %w", look.Tenant, push.ErrUnknownTenant)
	}
}

func unmarshalled[T any](raw bson.Raw) (T, error) {
	var doc, none T
	if raw == nil {
		return none, nil
	}
	if err := bson.Unmarshal(raw, &doc); err != nil {
		return none, fmt.Errorf("%v: %w: %w", raw.Lookup("_id"), push.ErrInvalidFacts, err)
	}
	return doc, nil
}

// staffAtOnce bounds the staff read by one find.
const staffAtOnce = 1000

func (l *Looks) fillStaff(ctx context.Context, looks []audit.Look, days [3]roster.Day) error {
	var ids []string
	for _, look := range looks {
		if look.Wrong == nil {
			ids = append(ids, listed(look.Facts)...)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	staff, wrong := map[string]roster.Staff{}, map[string]error{}
	projection := fields(staffFields, append(dayFields("added", days), offField)...)
	for some := range slices.Chunk(ids, staffAtOnce) {
		raws, err := findByIDs(ctx, l.staff, some, projection)
		if err != nil {
			return err
		}
		for id, raw := range raws {
			doc, err := unmarshalled[staffDoc](raw)
			if err == nil {
				staff[id], err = doc.staff()
			}
			if err != nil {
				wrong[id] = err
			}
		}
	}
	for i := range looks {
		if looks[i].Wrong == nil {
			giveStaff(&looks[i], staff, wrong)
		}
	}
	return nil
}

func giveStaff(look *audit.Look, staff map[string]roster.Staff, wrong map[string]error) {
	look.Facts.Staff = map[string]roster.Staff{}
	for _, id := range listed(look.Facts) {
		if err := wrong[id]; err != nil {
			look.Wrong = err
			return
		}
		if one, there := staff[id]; there {
			look.Facts.Staff[one.ID] = one
		}
	}
}

// Recorded returns at most limit codes that have a record, after one.
func (l *Looks) Recorded(ctx context.Context, after push.Ref, limit int) ([]push.Ref, error) {
	opts := page(limit).SetSort(bson.D{kv("_id", 1)}).SetProjection(fields([]string{"_id"}))
	raws, err := findRaw(ctx, l.records, afterRef(after), opts)
	if err != nil {
		return nil, fmt.Errorf("read records after %s: %w", refID(after), err)
	}
	refs := make([]push.Ref, 0, len(raws))
	for _, raw := range raws {
		id, _ := raw.Lookup("_id").StringValueOK()
		tenant, code, _ := strings.Cut(id, "/")
		refs = append(refs, push.Ref{Tenant: tenant, Code: code})
	}
	return refs, nil
}

// findByIDs returns the documents with these _ids, by _id.
func findByIDs(ctx context.Context, from *mongo.Collection, ids []string, projection bson.D) (map[string]bson.Raw, error) {
	found := make(map[string]bson.Raw, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	opts := options.Find().SetBatchSize(int32(len(ids) + 1))
	if projection != nil {
		opts.SetProjection(projection)
	}
	raws, err := findRaw(ctx, from, bson.D{kv("_id", bson.D{kv("$in", ids)})}, opts)
	for _, raw := range raws {
		if id, ok := raw.Lookup("_id").StringValueOK(); ok {
			found[id] = raw
		}
	}
	return found, err
}

func findRaw(ctx context.Context, from *mongo.Collection, filter bson.D, opts *options.FindOptionsBuilder) ([]bson.Raw, error) {
	return findAll[bson.Raw](ctx, from, filter, opts)
}

// Count returns about how many codes there are.
func (l *Looks) Count(ctx context.Context) (int64, error) {
	n, err := l.codes.EstimatedDocumentCount(ctx)
	if err != nil {
		return 0, fmt.Errorf("count the codes: %w", err)
	}
	return n, nil
}

// Largest returns how many codes the tenant has that has the most. It reads the
// tenants of all codes.
func (l *Looks) Largest(ctx context.Context) (int64, error) {
	cursor, err := l.codes.Aggregate(ctx, mongo.Pipeline{
		{kv("$group", bson.D{kv("_id", "$tenant"), kv("codes", bson.D{kv("$sum", 1)})})},
		{kv("$sort", bson.D{kv("codes", -1)})},
		{kv("$limit", 1)},
	})
	if err != nil {
		return 0, fmt.Errorf("find the largest tenant: %w", err)
	}
	var most []struct {
		Codes int64 `bson:"codes"`
	}
	if err := cursor.All(ctx, &most); err != nil || len(most) == 0 {
		return 0, err
	}
	return most[0].Codes, nil
}
