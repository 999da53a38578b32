package notify

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Resumer ends the holds of deliveries whose tenant's pool has room again: on
// the tenant's next day, or because its pool was made larger. Its methods are
// safe for concurrent use.
type Resumer struct {
	shelf     Shelf
	pools     Pools
	directory Directory
	observer  Observer
	pool      int
	now       func() time.Time
}

// NewResumer returns a Resumer; pool is the daily pool of a tenant that sets
// none.
func NewResumer(shelf Shelf, pools Pools, directory Directory, observer Observer, pool int, now func() time.Time) *Resumer {
	return &Resumer{shelf: shelf, pools: pools, directory: directory, observer: observer, pool: pool, now: now}
}

// Sweep lets as many held deliveries of each tenant go on as its pool has room
// for, those filed first before others. The room is not reserved: whoever finds
// none after all is held again. The error joins those of the tenants.
func (r *Resumer) Sweep(ctx context.Context) error {
	tenants, err := r.shelf.HeldTenants(ctx)
	if err != nil {
		return fmt.Errorf("find held deliveries: %w", err)
	}
	var failed []error
	for _, tenant := range tenants {
		if err := r.resume(ctx, tenant); err != nil {
			failed = append(failed, fmt.Errorf("resume held deliveries: %w", err))
		}
	}
	return errors.Join(failed...)
}

func (r *Resumer) resume(ctx context.Context, tenant string) error {
	t, err := readTerms(ctx, r.directory, tenant, r.pool)
	if err != nil {
		return err
	}
	spent, err := r.pools.Spent(ctx, tenant, t.day(r.now()))
	if err != nil {
		return err
	}
	room := t.limit - spent
	if room <= 0 {
		return nil
	}
	rows, err := r.shelf.Held(ctx, tenant, room)
	if err != nil {
		return err
	}
	for _, row := range rows {
		moved, err := r.shelf.Move(ctx, row, row.resume(r.now()))
		if err != nil {
			return fmt.Errorf("move delivery %s: %w", row.ID, err)
		}
		if moved {
			r.observer.Moved(ctx, row.Via, Pending)
		}
	}
	return nil
}
