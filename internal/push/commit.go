package push

import (
	"context"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// verify reads the facts again: had they changed before the push landed, an
// older list could otherwise stand, and be recorded, after a newer event was
// acked.
func (a *attempt) verify(ctx context.Context) (out Outcome, again bool) {
	a.observe()
	facts, err := a.Store.Facts(ctx, a.ref)
	if err != nil {
		return a.unreadable(err), false
	}
	now, err := a.decide(facts)
	if err != nil {
		return a.invalid(err), false
	}
	if facts.Code.Deleted || facts.Code.ConfigID != a.facts.Code.ConfigID || !sameDemand(a.verdict, now) {
		return nil, true
	}
	a.verdict.NextChange = now.NextChange // an edit may have moved it and left the list alone
	if !a.rotates {
		return nil, false
	}
	version, err := a.Rotation.Version(ctx, a.ref)
	if err != nil {
		return a.storeDown("read the rotation set's version", err), false
	}
	return nil, version != a.version
}

// commit records what WeCom holds, unless somebody began a push after ours. A
// nil outcome says that it is recorded and that no other call can land.
func (a *attempt) commit(ctx context.Context) Outcome {
	a.pushed.At, a.pushed.Revision, a.pushed.Notes = a.opts.Now(), a.facts.Code.Revision, a.verdict.Notes
	settled, open := a.settle()
	ok, err := a.Store.Commit(ctx, a.ref, a.pushed, settled, a.verdict.NextChange)
	if err != nil {
		return a.storeDown("commit a push", err)
	}
	if !ok {
		return Hold{Until: a.opts.Now().Add(a.opts.Backoff.Base), Cause: reason.Contended}
	}
	a.tell(ctx)
	if !open.IsZero() {
		return Hold{Until: open, Cause: reason.Unsettled}
	}
	return nil
}

func (a *attempt) done(why reason.Reason) Outcome {
	return Done{Reason: why, NextChange: a.verdict.NextChange, Slow: a.verdict.Lane.Slow()}
}

// settle splits the open intents: our own and those whose call must have
// landed before ours was announced are settled; for the others, open is when
// the last of them can take no effect any more.
func (a *attempt) settle() (settled []int64, open time.Time) {
	settled = append(settled, a.own...)
	for _, intent := range a.record.Intents {
		ends := intent.Deadline.Add(a.opts.IntentMargin)
		switch {
		case slices.Contains(a.own, intent.Epoch):
		case ends.Before(a.began):
			settled = append(settled, intent.Epoch)
		case ends.After(open):
			open = ends
		}
	}
	return settled, open
}

// sameDemand reports whether two verdicts ask for the same list and set.
func sameDemand(a, b roster.Verdict) bool {
	return a.Hash == b.Hash && a.Round == b.Round && slices.Equal(a.Rotation, b.Rotation)
}
