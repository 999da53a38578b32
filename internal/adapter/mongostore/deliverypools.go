package mongostore

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// poolsCollection is Rollcall's own.
const poolsCollection = "delivery_pools"

// poolDoc is a document of the collection delivery_pools: how many deliveries
// a tenant's day has paid for, and which. A pool has notify.MaxDailyPool of
// them at most, so that the document stays below half a megabyte.
type poolDoc struct {
	ID    string     `bson:"_id"` // tenant/day
	Day   roster.Day `bson:"day"`
	Spent int        `bson:"spent"`
	Paid  []string   `bson:"paid"`
}

// Debit takes one delivery from a pool. When the condition does not hold,
// either the delivery was paid for before or nothing is left; which of the two
// is asked afterwards, because what is paid for stays so.
func (d *Deliveries) Debit(ctx context.Context, tenant string, day roster.Day, id string, limit int) (bool, error) {
	pool := scoped(tenant, string(day))
	took, err := upsertIf(ctx, d.pools,
		bson.D{kv("_id", pool), kv("paid", bson.D{kv("$ne", id)}), kv("spent", bson.D{kv("$lt", limit)})},
		bson.D{kv("$inc", bson.D{kv("spent", 1)}), kv("$push", bson.D{kv("paid", id)}), kv("$setOnInsert", bson.D{kv("day", day)})})
	if err != nil {
		return false, fmt.Errorf("debit pool %s: %w", pool, err)
	}
	if took {
		return true, nil
	}
	paid, err := d.pools.CountDocuments(ctx, bson.D{kv("_id", pool), kv("paid", id)})
	if err != nil {
		return false, fmt.Errorf("read pool %s: %w", pool, err)
	}
	return paid > 0, nil
}

// Spent returns how much of a pool is taken.
func (d *Deliveries) Spent(ctx context.Context, tenant string, day roster.Day) (int, error) {
	doc, _, err := findOne[poolDoc](ctx, d.pools, scoped(tenant, string(day)), bson.D{kv("spent", 1)})
	return doc.Spent, err
}
