package fanouttest

import (
	"context"
	"fmt"
)

// Names of the operations as the hooks see them.
const (
	OpRequest = "store.request"
	OpOpen    = "store.open"
	OpJob     = "store.job"
	OpClaim   = "store.claim"
	OpClear   = "store.clear"
	OpAddRow  = "store.add_row"
	OpSave    = "store.save"
	OpTakeRow = "store.take_row"
	OpEndRow  = "store.end_row"
	OpRelease = "store.release"
	OpCodes   = "codes.of"
	OpPublish = "topic.publish_all"
)

// Hooks are where a test reaches into a fake. The zero value does nothing. Set
// them while nobody uses the fake.
type Hooks struct {
	// Before may refuse an operation: with an error it has no effect and the
	// caller gets the error.
	Before func(ctx context.Context, op string) error
	// After may hide an effect: with an error the operation has happened and
	// the caller gets the error all the same.
	After func(ctx context.Context, op string) error
}

// Do runs one operation between its hooks, unless the process that ctx belongs
// to is cut off. The effect takes the fake's lock itself.
func (h *Hooks) Do(ctx context.Context, op string, effect func()) error {
	process := processOf(ctx)
	if err := process.pass(op); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	if h.Before != nil {
		if err := h.Before(ctx, op); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	effect()
	if err := process.pass(op); err != nil {
		return err
	}
	if h.After != nil {
		if err := h.After(ctx, op); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	return nil
}
