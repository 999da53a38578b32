package pushtest

import (
	"context"
	"fmt"
)

// Names of the operations as the hooks see them. One call of a port may be
// several operations: Store.Load reads five documents, and a write of somebody
// else may fall between any two of them.
const (
	OpReadCode        = "store.read.code"
	OpReadTenant      = "store.read.tenant"
	OpReadCounters    = "store.read.counters"
	OpReadRecord      = "store.read.record"
	OpReadStaff       = "store.read.staff"
	OpBegin           = "store.begin"
	OpDrop            = "store.drop"
	OpCommit          = "store.commit"
	OpExpectChange    = "store.expect_change"
	OpSetFailure      = "store.set_failure"
	OpSetSearch       = "store.set_search"
	OpQuarantine      = "store.quarantine"
	OpSuspend         = "store.suspend"
	OpResume          = "store.resume"
	OpAdvanceRound    = "store.advance_round"
	OpMarkDeleted     = "store.mark_deleted"
	OpMark            = "dirty.mark"
	OpRotationVersion = "rotation.version"
	OpRotationReplace = "rotation.replace"
	OpRotationDelete  = "rotation.delete"
	OpAdmit           = "budget.admit"
	OpGiveBack        = "budget.give_back"
	OpThrottled       = "budget.throttled"
	OpUpdate          = "vendor.update"
	OpUpdateWire      = "vendor.update.wire"
	OpExists          = "vendor.exists"
)

// Hooks are where a test reaches into a fake. The zero value does nothing. Set
// them while nobody uses the fake.
type Hooks struct {
	// Step runs ahead of every operation. A scheduler switches workers here; a
	// crash is a Step that does not return (panic, runtime.Goexit).
	Step func(op string)
	// Before may refuse an operation: with an error it has no effect and the
	// caller gets the error.
	Before func(op string) error
	// After may hide an effect: with an error the operation has happened and
	// the caller gets the error all the same.
	After func(op string) error
}

// do runs one operation between its hooks. The effect takes the fake's lock
// itself.
func (h *Hooks) do(ctx context.Context, op string, effect func()) error {
	if h.Step != nil {
		h.Step(op)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	if h.Before != nil {
		if err := h.Before(op); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	effect()
	if h.After != nil {
		if err := h.After(op); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	return nil
}
