package mongostore

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/notify"
)

// Get returns a row.
func (d *Deliveries) Get(ctx context.Context, tenant, id string) (notify.Delivery, bool, error) {
	doc, found, err := findOne[deliveryDoc](ctx, d.rows, scoped(tenant, id), nil)
	if !found || err != nil {
		return notify.Delivery{}, false, err
	}
	return doc.delivery(), true, nil
}

// List returns rows in the order of their _ids.
func (d *Deliveries) List(ctx context.Context, which notify.Selection, limit int) ([]notify.Delivery, error) {
	filter := bson.D{}
	if ids := rowIDs(which); len(ids) > 0 {
		filter = append(filter, kv("_id", ids))
	}
	if which.State != "" {
		filter = append(filter, kv("state", which.State))
	}
	return d.find(ctx, limit, filter, bson.D{kv("_id", 1)})
}

// rowIDs are the conditions on the _id: after the last row seen, of one tenant.
func rowIDs(which notify.Selection) bson.D {
	var ids bson.D
	after := scoped(which.AfterTenant, which.AfterID)
	if which.Tenant != "" {
		after = max(after, scoped(which.Tenant, ""))
		ids = append(ids, kv("$lt", which.Tenant+"0")) // the character after the slash
	}
	if after > scoped("", "") {
		ids = append(ids, kv("$gt", after))
	}
	return ids
}

// Backlog looks at the rows that are not at their end.
func (d *Deliveries) Backlog(ctx context.Context) (notify.Backlog, error) {
	oldest, err := d.find(ctx, 1, bson.D{present("open.filed_at")}, bson.D{kv("open.filed_at", 1)})
	if err != nil {
		return notify.Backlog{}, err
	}
	held, err := d.rows.CountDocuments(ctx, bson.D{present("held.tenant")})
	if err != nil {
		return notify.Backlog{}, fmt.Errorf("count held deliveries: %w", err)
	}
	backlog := notify.Backlog{Held: int(held)}
	if len(oldest) > 0 {
		backlog.Oldest = oldest[0].FiledAt
	}
	return backlog, nil
}

// Prune removes what ended before an instant.
func (d *Deliveries) Prune(ctx context.Context, before time.Time) (int, error) {
	ended := bson.D{kv("$in", []notify.State{notify.Success, notify.Failed})}
	removed, err := d.rows.DeleteMany(ctx, bson.D{kv("state", ended), kv("at", bson.D{kv("$lt", before)})})
	if err != nil {
		return 0, fmt.Errorf("prune deliveries: %w", err)
	}
	_, err = d.pools.DeleteMany(ctx, bson.D{kv("day", bson.D{kv("$lt", notify.FirstOpenDay(before))})})
	if err != nil {
		return int(removed.DeletedCount), fmt.Errorf("prune delivery pools: %w", err)
	}
	return int(removed.DeletedCount), nil
}
