package push

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Due times of codes that only a change of their facts, or a person, can help.
const (
	hopelessDue  = time.Hour        // the facts are wrong or missing
	exhaustedDue = 10 * time.Minute // too many failures in a row
)

// turn is what the push has to wait for before it may ask for budget: an
// operator's hold, the failure's backoff, the lane, the circuit breaker.
func (a *attempt) turn() Outcome {
	now := a.opts.Now()
	if hold := a.facts.Hold(now); hold.Active(now) {
		return a.onHold(hold, now)
	}
	if until := a.record.Failure.NotBefore; until.After(now) {
		return a.wait(until, reason.Backoff)
	}
	if a.verdict.Lane.Slow() && a.record.Committed.Epoch > 0 {
		if until := a.verdict.Lane.NotBefore(a.record.Committed.At); until.After(now) {
			return a.wait(until, reason.SlowLane)
		}
	}
	if ok, until := a.Breaker.Allow(a.ref.Tenant); !ok {
		return a.wait(until, reason.BreakerOpen)
	}
	return nil
}

// onHold waits for the end of an operator's hold. One without an end is looked at
// now and then; whoever releases it publishes.
func (a *attempt) onHold(hold roster.Stop, now time.Time) Outcome {
	if hold.Until.IsZero() {
		return a.park(reason.OnHold, hold.By+": "+hold.Why, now.Add(hopelessDue))
	}
	return a.wait(hold.Until, reason.OnHold)
}

// wait is a hold, or a park when it is too long for one.
func (a *attempt) wait(until time.Time, cause reason.Reason) Outcome {
	if until.Sub(a.opts.Now()) > a.opts.ParkAfter {
		return a.park(cause, "the wait is longer than a hold may be", until)
	}
	return Hold{Until: until, Cause: cause}
}

func (a *attempt) refused(admission Admission) Outcome {
	if !admission.Booked {
		return a.park(admission.Cause, "no slot within the horizon", admission.At)
	}
	return a.wait(admission.At, admission.Cause)
}

func (a *attempt) park(why reason.Reason, detail string, due time.Time) Outcome {
	return Park{Mark: Mark{Ref: a.ref, Reason: why, Detail: detail, Due: due}}
}

// nextLook is when a code that has nobody to list is looked at again.
func (a *attempt) nextLook() time.Time {
	latest := a.opts.Now().Add(hopelessDue)
	if next := a.verdict.NextChange; !next.IsZero() {
		return earlier(next, latest)
	}
	return latest
}

// unreadable tells facts that are not there from a store that cannot be asked.
func (a *attempt) unreadable(err error) Outcome {
	due := a.opts.Now().Add(hopelessDue)
	switch {
	case errors.Is(err, ErrUnknownCode):
		return a.park(reason.UnknownCode, err.Error(), due)
	case errors.Is(err, ErrUnknownTenant):
		return a.park(reason.UnknownTenant, err.Error(), due)
	case errors.Is(err, ErrWrongTenant):
		return a.park(reason.WrongTenant, err.Error(), due)
	case errors.Is(err, ErrInvalidFacts):
		return a.invalid(err)
	}
	return a.storeDown("read the facts", err)
}

func (a *attempt) invalid(err error) Outcome {
	return a.park(reason.InvalidFacts, err.Error(), a.opts.Now().Add(hopelessDue))
}

// deleted cleans up after a code that is gone. Intents that it left open say
// nothing any more; they would make it dirty for ever.
func (a *attempt) deleted(ctx context.Context) Outcome {
	if len(a.record.Intents) > 0 {
		if err := a.Store.MarkDeleted(ctx, a.ref, a.opts.Now()); err != nil {
			return a.storeDown("settle the intents of a deleted code", err)
		}
	}
	if a.rotates || a.facts.Code.Family.Rotates() {
		if err := a.Rotation.Delete(ctx, a.ref); err != nil {
			return a.storeDown("delete the rotation set", err)
		}
	}
	return Done{Reason: reason.Deleted}
}

// tidyRecord clears a failure that the facts have overtaken and keeps true what
// the record says beside an unchanged list: when it changes next, its notes,
// and the revision that asked for it. It writes only when there is a
// difference.
func (a *attempt) tidyRecord(ctx context.Context) Outcome {
	if next := a.verdict.NextChange; !a.record.Expects(next) {
		if err := a.Store.ExpectChange(ctx, a.ref, next); err != nil {
			return a.storeDown("note the next change", err)
		}
	}
	if a.record.Failure.Streak > 0 {
		if err := a.Store.SetFailure(ctx, a.ref, Failure{}); err != nil {
			return a.storeDown("clear a failure", err)
		}
	}
	committed := a.record.Committed
	revision := a.facts.Code.Revision
	if committed.Epoch != a.record.Epoch || revision < committed.Revision { // these facts are older than the record
		return nil
	}
	if slices.Equal(committed.Notes, a.verdict.Notes) && committed.Revision == revision {
		return nil
	}
	committed.Notes, committed.Revision = a.verdict.Notes, revision
	if _, err := a.Store.Commit(ctx, a.ref, committed, nil, time.Time{}); err != nil {
		return a.storeDown("keep the record true beside its list", err)
	}
	return nil
}
