package service

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/notify"
)

// ListDeliveries yields deliveries, a tenant's together.
func ListDeliveries(ctx context.Context, cfg config.Config, which notify.Selection) iter.Seq2[notify.Delivery, error] {
	return func(yield func(notify.Delivery, error) bool) {
		err := withDeliveries(ctx, cfg, func(store *mongostore.Deliveries) error {
			return allDeliveries(ctx, store, which, yield)
		})
		if err != nil {
			yield(notify.Delivery{}, err)
		}
	}
}

// allDeliveries yields page after page, until there is none or yield has enough.
func allDeliveries(ctx context.Context, archive notify.Archive, which notify.Selection, yield func(notify.Delivery, error) bool) error {
	for {
		page, err := archive.List(ctx, which, listPage)
		if err != nil {
			return err
		}
		for _, row := range page {
			if !yield(row, nil) {
				return nil
			}
			which.AfterTenant, which.AfterID = row.Notice.Tenant, row.ID
		}
		if len(page) < listPage {
			return nil
		}
	}
}

// ShowDelivery returns one delivery of a tenant; notify.ErrUnknownDelivery when
// there is none.
func ShowDelivery(ctx context.Context, cfg config.Config, tenant, id string) (notify.Delivery, error) {
	var row notify.Delivery
	err := withDeliveries(ctx, cfg, func(store *mongostore.Deliveries) error {
		got, found, err := store.Get(ctx, tenant, id)
		if err == nil && !found {
			err = fmt.Errorf("delivery %s of tenant %s: %w", id, tenant, notify.ErrUnknownDelivery)
		}
		row = got
		return err
	})
	return row, err
}

// RetryDelivery makes a delivery that was given up pending again.
func RetryDelivery(ctx context.Context, cfg config.Config, tenant, id string) error {
	return withDeliveries(ctx, cfg, func(store *mongostore.Deliveries) error {
		return notify.Reopen(ctx, store, store, tenant, id, time.Now())
	})
}

// withDeliveries works on a connection of its own.
func withDeliveries(ctx context.Context, cfg config.Config, do func(*mongostore.Deliveries) error) error {
	return withMongo(ctx, cfg, func(db *mongostore.Database) error { return do(db.Deliveries()) })
}
