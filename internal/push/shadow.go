package push

import (
	"context"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Shadow is what Rollcall would have pushed for a code that another system
// still writes.
type Shadow struct {
	Members  []string // sorted, as they would have been sent; empty: nobody is left
	Hash     string   // roster.Verdict.Hash
	Revision int64    // roster.Code.Revision it was decided from
	// At is an instant before the facts were read: facts written before it are
	// in the verdict.
	At time.Time
	// Why has each person once, listed or not.
	Why []roster.Judgement
}

// Shadows keeps the last Shadow of each code in shadow mode.
type Shadows interface {
	// Note stores a shadow unless a later one is stored, by At.
	Note(ctx context.Context, ref Ref, shadow Shadow) error
}

// shadow ends a refresh of a code that another system writes: the verdict is
// noted and nothing is sent. The rotation set is left alone too. What was
// announced while the code was live is settled when it can land no more, so that
// it does not keep the code dirty.
func (a *attempt) shadow(ctx context.Context) Outcome {
	if out := a.dropLanded(ctx); out != nil {
		return out
	}
	err := a.Shadows.Note(ctx, a.ref, Shadow{
		Members: a.verdict.Members, Hash: a.verdict.Hash, Revision: a.facts.Code.Revision, At: a.readAt, Why: a.verdict.PerStaff,
	})
	if err != nil {
		return a.storeDown("note what would have been pushed", err)
	}
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
	return a.done(reason.Shadowed)
}

// dropLanded drops the intents whose calls have landed or never will, and waits
// for the others.
func (a *attempt) dropLanded(ctx context.Context) Outcome {
	now, open := a.opts.Now(), time.Time{}
	for _, intent := range a.record.Intents {
		ends := intent.Deadline.Add(a.opts.IntentMargin)
		if !slices.Contains(a.own, intent.Epoch) && ends.After(now) {
			open = later(open, ends)
			continue
		}
		if err := a.Store.Drop(ctx, a.ref, intent.Epoch); err != nil {
			return a.storeDown("drop an intent of before", err)
		}
	}
	if !open.IsZero() {
		return Hold{Until: open, Cause: reason.Unsettled}
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
