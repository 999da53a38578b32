package mongostore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/rollcall-dev/rollcall/internal/notify"
)

// deliveriesCollection is Rollcall's own.
const deliveriesCollection = "deliveries"

// Deliveries is what is kept of notifications: the rows and the daily pools.
type Deliveries struct {
	rows  *mongo.Collection
	pools *mongo.Collection
}

var (
	_ notify.Ledger  = (*Deliveries)(nil)
	_ notify.Queue   = (*Deliveries)(nil)
	_ notify.Shelf   = (*Deliveries)(nil)
	_ notify.Pools   = (*Deliveries)(nil)
	_ notify.Archive = (*Deliveries)(nil)
)

// Deliveries returns the store of notifications.
func (d *Database) Deliveries() *Deliveries {
	return &Deliveries{rows: d.db.Collection(deliveriesCollection), pools: d.db.Collection(poolsCollection)}
}

// Create stores a row unless it is there.
func (d *Deliveries) Create(ctx context.Context, row notify.Delivery) (bool, error) {
	_, err := d.rows.InsertOne(ctx, deliveryDocOf(row))
	if mongo.IsDuplicateKeyError(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("create delivery %s: %w", row.ID, err)
	}
	return true, nil
}

// Move changes a row that is still as seen.
func (d *Deliveries) Move(ctx context.Context, seen notify.Delivery, next notify.Progress) (bool, error) {
	filter := append(byID(deliveryRowID(seen)), kv("state", seen.State), kv("attempt", seen.Attempt), kv("owner", seen.Owner))
	moving := seen
	moving.Progress = next
	moved, err := updateIf(ctx, d.rows, filter, deliveryDocOf(moving).update())
	if err != nil {
		return false, fmt.Errorf("move delivery %s: %w", seen.ID, err)
	}
	return moved, nil
}

// DueLanes returns the lanes with something due.
func (d *Deliveries) DueLanes(ctx context.Context, now time.Time) ([]notify.Lane, error) {
	var names []string
	if err := d.rows.Distinct(ctx, "open.lane", bson.D{openBy(now)}).Decode(&names); err != nil {
		return nil, fmt.Errorf("find the lanes with deliveries: %w", err)
	}
	lanes := make([]notify.Lane, len(names))
	for i, name := range names {
		tenant, via, _ := strings.Cut(name, "/")
		lanes[i] = notify.Lane{Tenant: tenant, Via: notify.Via(via)}
	}
	return lanes, nil
}

// Due returns what is due of a lane.
func (d *Deliveries) Due(ctx context.Context, lane notify.Lane, now time.Time, limit int) ([]notify.Delivery, error) {
	return d.find(ctx, limit, bson.D{kv("open.lane", laneName(lane)), openBy(now)}, bson.D{kv("open.due", 1)})
}

func openBy(now time.Time) bson.E { return kv("open.due", bson.D{kv("$lte", now)}) }

// HeldTenants returns the tenants with a held row.
func (d *Deliveries) HeldTenants(ctx context.Context) ([]string, error) {
	var tenants []string
	if err := d.rows.Distinct(ctx, "held.tenant", bson.D{present("held.tenant")}).Decode(&tenants); err != nil {
		return nil, fmt.Errorf("find the tenants with held deliveries: %w", err)
	}
	return tenants, nil
}

// Held returns held rows of a tenant.
func (d *Deliveries) Held(ctx context.Context, tenant string, limit int) ([]notify.Delivery, error) {
	return d.find(ctx, limit, bson.D{kv("held.tenant", tenant)}, bson.D{kv("held.filed_at", 1)})
}

// present is the condition that a field is there.
func present(field string) bson.E { return kv(field, bson.D{kv("$exists", true)}) }

func (d *Deliveries) find(ctx context.Context, limit int, filter, order bson.D) ([]notify.Delivery, error) {
	docs, err := findAll[deliveryDoc](ctx, d.rows, filter, page(limit).SetSort(order))
	rows := make([]notify.Delivery, 0, len(docs))
	for _, doc := range docs {
		rows = append(rows, doc.delivery())
	}
	return rows, err
}
