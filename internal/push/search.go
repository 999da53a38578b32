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
	// before the first, and refused the one that ends with the last.
	Suspects []string
}

// sendable is the verdict, or the part of it that brings a search on.
func (a *attempt) sendable() roster.Verdict {
	suspects := a.suspects()
	if len(suspects) == 0 {
		return a.verdict
	}
	first, _ := halves(suspects)
	rest := a.verdict.Members[slices.Index(a.verdict.Members, first[len(first)-1])+1:]
	return a.verdict.Without(rest, &a.facts)
}

// halves splits suspects; a single one is the first half.
func halves(suspects []string) (first, second []string) {
	middle := max(1, len(suspects)/2)
	return suspects[:middle], suspects[middle:]
}

// suspects are those of the search for the list that is asked for now.
func (a *attempt) suspects() []string {
	if a.record.Search.List != a.verdict.Hash {
		return nil
	}
	return a.record.Search.Suspects
}

// probes reports that the list just sent brings a search on.
func (a *attempt) probes() bool { return a.suspects() != nil }

// refusedMember takes in that the list sent has a bad member.
func (a *attempt) refusedMember(ctx context.Context, call *CallError) (out Outcome, again bool) {
	if a.inQuarantine() >= min(maxQuarantined, (len(a.facts.Code.Members)+1)/2) {
		return a.failed(ctx, reason.BadMember, call), false
	}
	suspects := a.sending.Members
	if a.suspects() != nil {
		suspects, _ = halves(a.suspects())
	}
	if len(suspects) > 1 {
		return a.narrow(ctx, suspects), true
	}
	until := a.opts.Now().Add(quarantineFor)
	if err := a.Store.Quarantine(ctx, a.ref.Tenant, suspects[0], until, call.Error()); err != nil {
		return a.storeDown("quarantine member "+suspects[0], err), false
	}
	return a.endSearch(ctx), true
}

// tookProbe takes in that WeCom holds the list up to the middle of the
// suspects. Nobody is convicted by a list that was taken: a single suspect is
// sent once more, since those before him may have been mended meanwhile.
func (a *attempt) tookProbe(ctx context.Context) Outcome {
	_, suspects := halves(a.suspects())
	if len(suspects) == 0 {
		return a.endSearch(ctx)
	}
	return a.narrow(ctx, suspects)
}

// narrow leaves so many suspects.
func (a *attempt) narrow(ctx context.Context, suspects []string) Outcome {
	return a.setSearch(ctx, Search{List: a.verdict.Hash, Suspects: suspects})
}

// endSearch forgets a search that is over: its list was taken, or is not asked
// for any more.
func (a *attempt) endSearch(ctx context.Context) Outcome {
	if a.record.Search.List == "" {
		return nil
	}
	return a.setSearch(ctx, Search{})
}

func (a *attempt) setSearch(ctx context.Context, search Search) Outcome {
	if err := a.Store.SetSearch(ctx, a.ref, search); err != nil {
		return a.storeDown("note the search for a refused member", err)
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
