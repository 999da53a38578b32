package push

import (
	"context"
	"errors"
	"fmt"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// storeDown is a step that could not be made because a store did not answer.
// Nothing was recorded, so the intake has to bring the code back by itself.
func (a *attempt) storeDown(attempted string, err error) Outcome {
	return Fail{Class: reason.StoreDown, Err: fmt.Errorf("%s of %s: %w", attempted, a.ref.Code, err)}
}

// refusal deals with a call that did not succeed. Of a call that surely took
// no effect the intent is dropped; of any other it stays, and the next refresh
// pushes whatever the record says.
func (a *attempt) refusal(ctx context.Context, intent Intent, err error) (out Outcome, again bool) {
	var call *CallError
	if !errors.As(err, &call) {
		call = &CallError{Op: opUpdate, Unknown: true, Err: err}
	}
	class := Classify(call)
	a.tellRefused(ctx, intent.Epoch, class, call)
	if !call.Unknown {
		if err := a.Store.Drop(ctx, a.ref, intent.Epoch); err != nil {
			return a.storeDown("drop an intent", err), false
		}
	}
	if class != reason.BadMember {
		return a.classed(ctx, class, call), false
	}
	return a.refusedMember(ctx, call)
}

// classed deals with a refusal that is nobody's on the list.
func (a *attempt) classed(ctx context.Context, class reason.Reason, call *CallError) Outcome {
	switch class {
	case reason.Throttled:
		until, err := a.Budget.Throttled(ctx, a.ref.Tenant, call.ErrCode)
		if err != nil {
			return a.storeDown("note a throttle answer", err)
		}
		return a.wait(until, reason.Blocked)
	case reason.Credentials:
		return a.suspend(ctx, call)
	case reason.BreakerOpen:
		_, until := a.Breaker.Allow(a.ref.Tenant)
		return a.wait(until, reason.BreakerOpen)
	case reason.Gone:
		return a.gone(ctx, call)
	default:
		return a.failed(ctx, class, call)
	}
}

// gone confirms that WeCom does not know the contact way any more before
// anything is given up.
func (a *attempt) gone(ctx context.Context, call *CallError) Outcome {
	known, err := a.Vendor.Exists(ctx, a.ref, a.facts.Code.ConfigID)
	if err != nil || known {
		return a.failed(ctx, reason.Transient, call)
	}
	if err := a.Store.MarkDeleted(ctx, a.ref, a.opts.Now()); err != nil {
		return a.storeDown("mark a code deleted", err)
	}
	return a.deleted(ctx)
}

// failed counts the failure in the record and holds the code for its backoff,
// or makes it dirty after too many of them.
func (a *attempt) failed(ctx context.Context, class reason.Reason, call *CallError) Outcome {
	now := a.opts.Now()
	failure := Failure{
		Streak:  a.record.Failure.Streak + 1,
		Class:   class,
		ErrCode: call.ErrCode,
		Message: call.Error(),
	}
	failure.NotBefore = now.Add(a.opts.Backoff.After(failure.Streak, a.ref.Code))
	if err := a.Store.SetFailure(ctx, a.ref, failure); err != nil {
		return a.storeDown("record a failure", err)
	}
	if failure.Streak >= a.opts.MaxFailures {
		return a.park(class, failure.Message, now.Add(exhaustedDue))
	}
	return a.wait(failure.NotBefore, reason.Backoff)
}
