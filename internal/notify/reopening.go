package notify

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Errors of Reopen.
var (
	ErrUnknownDelivery = errors.New("no such delivery")
	ErrNotFailed       = errors.New("the delivery is not failed")
)

// Reopen makes a delivery that was given up pending again, for an operator who
// knows that its receiver takes it now. It keeps its idempotency key and is not
// paid for twice.
func Reopen(ctx context.Context, archive Archive, mover Mover, tenant, id string, now time.Time) error {
	row, found, err := archive.Get(ctx, tenant, id)
	switch {
	case err != nil:
		return fmt.Errorf("reopen delivery %s: %w", id, err)
	case !found:
		return fmt.Errorf("reopen delivery %s of tenant %s: %w", id, tenant, ErrUnknownDelivery)
	case row.State != Failed:
		return fmt.Errorf("reopen delivery %s, which is %s: %w", id, row.State, ErrNotFailed)
	}
	moved, err := mover.Move(ctx, row, row.reopen(now))
	if err != nil {
		return fmt.Errorf("reopen delivery %s: %w", id, err)
	}
	if !moved {
		return fmt.Errorf("reopen delivery %s, which somebody moved meanwhile: %w", id, ErrNotFailed)
	}
	return nil
}
