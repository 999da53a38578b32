package push

import (
	"context"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// tell tells the journal what WeCom holds now in place of what it held.
func (a *attempt) tell(ctx context.Context) {
	if a.Journal == nil {
		return
	}
	a.Journal.Changed(ctx, Change{
		Ref: a.ref, At: a.pushed.At, Epoch: a.pushed.Epoch, Before: a.before, After: a.pushed.Members, PerStaff: a.verdict.PerStaff,
	})
	a.before, a.told = a.pushed.Members, a.pushed.Epoch // the next push of this refresh replaces this one
}

// tellRefused tells of a call that WeCom refused, or left without an answer.
func (a *attempt) tellRefused(ctx context.Context, epoch int64, class reason.Reason, call *CallError) {
	if a.Journal == nil {
		return
	}
	a.Journal.Refused(ctx, Refusal{
		Ref: a.ref, At: a.opts.Now(), Epoch: epoch, Class: class, Unknown: call.Unknown, Detail: call.Error(),
	})
}

// tellUnrecorded tells of our last push when WeCom took it and the refresh ended
// before the record said so.
func (a *attempt) tellUnrecorded(ctx context.Context, out Outcome) {
	if a.Journal == nil || len(a.own) == 0 || a.pushed.Epoch == a.told {
		return
	}
	_, why := Describe(out)
	a.Journal.Refused(ctx, Refusal{
		Ref: a.ref, At: a.opts.Now(), Epoch: a.pushed.Epoch, Class: why, Unknown: true, Detail: "WeCom took the list, and the record does not have it",
	})
}
