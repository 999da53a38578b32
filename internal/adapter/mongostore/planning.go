package mongostore

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"golang.org/x/sync/errgroup"

	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Planning reads whole tenants by page: the codes go by the index tenant_code, what
// stands beside them by _id.
type Planning struct {
	tenants  *mongo.Collection
	staff    *mongo.Collection
	codes    *mongo.Collection
	counters *mongo.Collection
	records  *mongo.Collection
	now      func() time.Time
}

var _ plan.Facts = (*Planning)(nil)

// Planning returns the planner's reader.
func (d *Database) Planning() *Planning {
	return &Planning{
		tenants: d.db.Collection(tenantsCollection), staff: d.db.Collection(staffCollection), codes: d.db.Collection(codesCollection),
		counters: d.db.Collection(countersCollection), records: d.db.Collection(recordsCollection), now: d.now,
	}
}

// Tenant reads a tenant; plan.ErrUnknownTenant.
func (p *Planning) Tenant(ctx context.Context, tenant string) (roster.Tenant, error) {
	doc, found, err := findOne[tenantDoc](ctx, p.tenants, tenant, fields(tenantFields))
	if err == nil && !found {
		err = fmt.Errorf("tenant %s: %w", tenant, plan.ErrUnknownTenant)
	}
	return doc.tenant(), err
}

// TenantsAfter reads a page of tenants.
func (p *Planning) TenantsAfter(ctx context.Context, after string, limit int) ([]roster.Tenant, error) {
	filter := bson.D{kv("_id", bson.D{kv("$gt", after)})}
	docs, err := findAll[tenantDoc](ctx, p.tenants, filter, page(limit).SetSort(bson.D{kv("_id", 1)}).SetProjection(fields(tenantFields)))
	tenants := make([]roster.Tenant, 0, len(docs))
	for _, doc := range docs {
		tenants = append(tenants, doc.tenant())
	}
	return tenants, err
}

// StaffAfter reads a page of a tenant's staff, by the range of their _ids.
func (p *Planning) StaffAfter(ctx context.Context, tenant, after string, limit int) ([]roster.Staff, error) {
	within := bson.D{kv("$gt", scoped(tenant, after)), kv("$lt", tenant+"0")} // 0 comes after the slash
	projection := fields(staffFields, dayFields("added", daysAround(p.now()))...)
	docs, err := findAll[staffDoc](ctx, p.staff, bson.D{kv("_id", within)}, page(limit).SetSort(bson.D{kv("_id", 1)}).SetProjection(projection))
	if err != nil {
		return nil, err
	}
	staff := make([]roster.Staff, 0, len(docs))
	for _, doc := range docs {
		one, err := doc.staff()
		if err != nil {
			return nil, err
		}
		staff = append(staff, one)
	}
	return staff, nil
}

// CodesAfter reads a page of a tenant's codes, with all days of their counters.
func (p *Planning) CodesAfter(ctx context.Context, tenant, after string, limit int) ([]plan.CodeFacts, error) {
	filter := bson.D{kv("tenant", tenant), kv("_id", bson.D{kv("$gt", after)})}
	docs, err := findAll[codeDoc](ctx, p.codes, filter, page(limit).SetSort(bson.D{kv("_id", 1)}).SetProjection(fields(codeFields)))
	if err != nil {
		return nil, err
	}
	ids, refs := make([]string, len(docs)), make([]string, len(docs))
	for i, doc := range docs {
		ids[i], refs[i] = doc.ID, refID(push.Ref{Tenant: tenant, Code: doc.ID})
	}
	var counters, records map[string]bson.Raw
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		counters, err = findByIDs(groupCtx, p.counters, ids, fields(countersFields, "days"))
		return err
	})
	group.Go(func() (err error) {
		records, err = findByIDs(groupCtx, p.records, refs, fields([]string{"committed.at"}))
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	found := make([]plan.CodeFacts, 0, len(docs))
	for i, doc := range docs {
		counted, err := unmarshalled[countersDoc](counters[ids[i]])
		if err != nil {
			return nil, err
		}
		record, err := unmarshalled[recordDoc](records[refs[i]])
		if err != nil {
			return nil, err
		}
		found = append(found, plan.CodeFacts{Code: doc.code(), Counters: counted.counters(), LastPush: utc(record.Committed.At)})
	}
	return found, nil
}
