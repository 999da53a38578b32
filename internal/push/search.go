package push

import (
	"context"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// WeCom refuses a whole list for one bad member and does not name him. He is
// found by bisection: of the list's members, in their order, the longest run
// from the first on that WeCom takes ends right before him. Every list sent on
// the way holds nobody whom the facts exclude, and each is a push like any
// other, with its intent and its admission. How far the search has come is in
// the record, so that it goes on wherever a throttle or a crash cuts it off.
// Finding one of n members takes about log2(n) calls; several are found one
// after the other.

const (
	// quarantineFor is how long a refused member is left out before he is tried
	// again. An edit of his facts ends it earlier.
	quarantineFor = 6 * time.Hour
	// maxQuarantined is how many members of a code may be in quarantine before
	// the fault is looked for elsewhere: an app that lost its visible range has
	// every member refused.
	maxQuarantined = 8
)

// Search is how far the search for a refused member of a list has come; the
// zero value is none.
type Search struct {
	// List is the hash of the list that was refused. Of another list the
	// search says nothing.
	List string
	// Suspects are members in the list's order: WeCom took the list that ends
	// before the first, and refused the one that ends with the last. There are
	// at least two.
	Suspects []string
}

// sendable is the verdict, or the part of it that brings a search on.
func (a *attempt) sendable() roster.Verdict {
	suspects := a.suspects()
	if len(suspects) < 2 {
		return a.verdict
	}
	last := suspects[len(suspects)/2-1]
	rest := a.verdict.Members[slices.Index(a.verdict.Members, last)+1:]
	return a.verdict.Without(rest, &a.facts.Code)
}

// suspects are those of the search for the list that is asked for now.
func (a *attempt) suspects() []string {
	if a.record.Search.List != a.verdict.Hash {
		return nil
	}
	return a.record.Search.Suspects
}

// probes reports that the list just sent is not the whole one.
func (a *attempt) probes() bool { return a.sending.Hash != a.verdict.Hash }

// refusedMember takes in that the list sent has a bad member.
func (a *attempt) refusedMember(ctx context.Context, call *CallError) (out Outcome, again bool) {
	if a.inQuarantine() >= min(maxQuarantined, (len(a.facts.Code.Members)+1)/2) {
		return a.failed(ctx, reason.BadMember, call), false
	}
	if suspects := a.suspects(); a.probes() {
		return a.suspect(ctx, suspects[:len(suspects)/2], call.Error())
	}
	return a.suspect(ctx, a.sending.Members, call.Error())
}

// tookProbe takes in that WeCom holds the list up to the middle of the suspects.
func (a *attempt) tookProbe(ctx context.Context) (out Outcome, again bool) {
	suspects := a.suspects()
	return a.suspect(ctx, suspects[len(suspects)/2:], "lists were taken up to this member and refused with him")
}

// suspect narrows the search, and ends it with a quarantine when one is left.
func (a *attempt) suspect(ctx context.Context, suspects []string, why string) (out Outcome, again bool) {
	search := Search{List: a.verdict.Hash, Suspects: suspects}
	if len(suspects) == 1 {
		until := a.opts.Now().Add(quarantineFor)
		if err := a.Store.Quarantine(ctx, a.ref.Tenant, suspects[0], until, why); err != nil {
			return a.storeDown("quarantine member "+suspects[0], err), false
		}
		search = Search{}
	}
	if err := a.Store.SetSearch(ctx, a.ref, search); err != nil {
		return a.storeDown("note the search for a refused member", err), false
	}
	return nil, true
}

// endSearch forgets a search that is over: its list was taken, or is not asked
// for any more.
func (a *attempt) endSearch(ctx context.Context) Outcome {
	if a.record.Search.List == "" {
		return nil
	}
	if err := a.Store.SetSearch(ctx, a.ref, Search{}); err != nil {
		return a.storeDown("end the search for a refused member", err)
	}
	return nil
}

// inQuarantine is how many of the code's members are refused now.
func (a *attempt) inQuarantine() int {
	n := 0
	for _, m := range a.facts.Code.Members {
		if a.facts.Staff[m.Staff].QuarantinedUntil.After(a.opts.Now()) {
			n++
		}
	}
	return n
}
