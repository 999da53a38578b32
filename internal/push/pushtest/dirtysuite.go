package pushtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

// DirtySet is push.Dirty with what a keeper and an operator do to it.
type DirtySet interface {
	push.Dirty
	Get(ctx context.Context, ref push.Ref) (Entry, bool, error)
	List(ctx context.Context, after push.Ref, limit int) ([]Entry, error)
	DueTenants(ctx context.Context, state push.DirtyState, now time.Time) ([]string, error)
	DueOf(ctx context.Context, state push.DirtyState, tenant string, now time.Time, limit int) ([]Entry, error)
	Unconfirmed(ctx context.Context, now time.Time, limit int) ([]Entry, error)
	// Release and Defer go by Ref, Version and Confirm of each entry, Repeat by
	// Ref, Version and Due.
	Release(ctx context.Context, seen ...Entry) (int, error)
	Defer(ctx context.Context, seen ...Entry) (int, error)
	Repeat(ctx context.Context, seen ...Entry) (int, error)
	Postpone(ctx context.Context, ref push.Ref, seen string, until time.Time) (bool, error)
	// Remove goes by Ref and Version of each entry.
	Remove(ctx context.Context, seen ...Entry) (int, error)
}

// DirtyBench is a dirty set under test and the clock it takes its time from.
type DirtyBench struct {
	Dirty DirtySet
	Clock *Clock
}

// TestDirty is the contract of a dirty set. Every subtest gets an empty one
// from the factory, which cleans up after itself.
func TestDirty(t *testing.T, factory func(t *testing.T, clock *Clock) DirtySet) {
	tests := map[string]func(t *testing.T, b DirtyBench){
		"keeps a mark":                                dirtyMark,
		"keeps many marks at once":                    dirtyMarkMany,
		"adds to a mark":                              dirtyMarkAgain,
		"keeps one entry a code, whoever marks":       dirtyMarkRace,
		"keeps the tenants apart":                     dirtyTenants,
		"pages in one order":                          dirtyList,
		"gives out what is due, the earliest first":   dirtyDue,
		"tells who has something due":                 dirtyDueTenants,
		"is postponed by one keeper":                  dirtyPostponeRace,
		"keeps a postponed code until then":           dirtyPostpone,
		"is due earlier when marked after":            dirtyMarkAfterPostpone,
		"removes many at once, but none marked since": dirtyRemoveMany,
		"does not mistake a new entry for an old one": dirtyRecreated,
		"loses no mark to a removal beside it":        dirtyMarkBesideRemove,
		"keeps a released code until it is removed":   dirtyReleased,
		"tells work that waits from what is to mend":  dirtyStates,
		"cannot be marked when the context has ended": dirtyCancelled,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := NewClock(time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC))
			test(t, DirtyBench{Dirty: factory(t, clock), Clock: clock})
		})
	}
}

func dirtyMark(t *testing.T, b DirtyBench) {
	now := b.Clock.Now()
	b.mark(t, acme, reason.Overflow, "10000 held", now.Add(time.Minute))
	b.want(t, acme, Entry{
		Ref: acme, Reasons: []reason.Reason{reason.Overflow}, Detail: "10000 held",
		Due: now.Add(time.Minute), FirstSeen: now, LastSeen: now, Count: 1,
	})
	if _, found, err := b.Dirty.Get(t.Context(), push.Ref{Tenant: "acme", Code: "clean"}); found || err != nil {
		t.Errorf("a code that was never marked is dirty: %v, %v", found, err)
	}
}

// dirtyMarkMany: a code may be among them twice, or dirty already.
func dirtyMarkMany(t *testing.T, b DirtyBench) {
	due := b.Clock.Now().Add(time.Minute)
	b.mark(t, acme, reason.Transient, "before", due)
	marks := []push.Mark{{Ref: acme, Reason: reason.Overflow, Due: due.Add(-time.Second)}}
	for i := range 1200 {
		marks = append(marks, push.Mark{Ref: push.Ref{Tenant: acme.Tenant, Code: fmt.Sprint("many-", i%1100)}, Reason: reason.Overflow, Due: due})
	}
	if err := b.Dirty.Mark(t.Context(), marks...); err != nil {
		t.Fatalf("Mark of %d: %v", len(marks), err)
	}
	all, err := b.Dirty.List(t.Context(), push.Ref{}, 2000)
	if err != nil || len(all) != 1101 {
		t.Errorf("%d dirty codes, %v; want 1101", len(all), err)
	}
	if err := b.Dirty.Mark(t.Context()); err != nil {
		t.Errorf("Mark of none: %v", err)
	}
}

func dirtyMarkAgain(t *testing.T, b DirtyBench) {
	first := b.Clock.Now()
	b.mark(t, acme, reason.Overflow, "a", first.Add(time.Minute))
	later := b.Clock.Advance(time.Second)
	b.mark(t, acme, reason.Transient, "b", first.Add(time.Hour))
	b.mark(t, acme, reason.Overflow, "c", first.Add(30*time.Second))
	b.mark(t, acme, reason.Overflow, "d", first.Add(40*time.Second))
	b.want(t, acme, Entry{
		Ref: acme, Reasons: []reason.Reason{reason.Overflow, reason.Transient}, Detail: "d",
		Due: first.Add(30 * time.Second), FirstSeen: first, LastSeen: later, Count: 4,
	})
}

func dirtyMarkRace(t *testing.T, b DirtyBench) {
	const racers = 32
	now := b.Clock.Now()
	suitetest.Race(t, racers, func(i int) (bool, error) {
		due := now.Add(time.Duration(i) * time.Second)
		return true, b.Dirty.Mark(t.Context(), push.Mark{Ref: acme, Reason: reason.Transient, Due: due})
	})
	entry := b.get(t, acme)
	if entry.Count != racers || !entry.Due.Equal(now) || len(entry.Reasons) != 1 {
		t.Errorf("after %d marks at once: %+v", racers, entry)
	}
}

func dirtyTenants(t *testing.T, b DirtyBench) {
	now := b.Clock.Now()
	stranger := push.Ref{Tenant: "globex", Code: acme.Code}
	b.mark(t, stranger, reason.WrongTenant, "", now)
	b.mark(t, acme, reason.Transient, "", now)
	if got := b.get(t, acme); got.Tenant != acme.Tenant || got.Count != 1 {
		t.Errorf("a stranger's mark is in the code's own entry: %+v", got)
	}
	if got := b.get(t, stranger); got.Count != 1 || got.Reasons[0] != reason.WrongTenant {
		t.Errorf("a stranger's mark: %+v", got)
	}
}

func dirtyList(t *testing.T, b DirtyBench) {
	const n = 5
	var want []push.Ref
	for i := range n {
		ref := push.Ref{Tenant: "acme", Code: fmt.Sprintf("code-%d", i)}
		want = append(want, ref)
		b.mark(t, ref, reason.Overflow, "", b.Clock.Now())
	}
	var got []push.Ref
	var after push.Ref
	for range n + 1 { // more pages than there are
		page, err := b.Dirty.List(t.Context(), after, 2)
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			got = append(got, e.Ref)
		}
		after = got[len(got)-1]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

func dirtyDue(t *testing.T, b DirtyBench) {
	now := b.Clock.Now()
	for i, in := range []time.Duration{time.Minute, -time.Minute, 0, -time.Hour, time.Millisecond} {
		b.mark(t, codeOf("acme", i), reason.Overflow, "", now.Add(in))
	}
	b.mark(t, push.Ref{Tenant: "acme2", Code: "code-9"}, reason.Overflow, "", now.Add(-time.Hour))
	if diff := cmp.Diff([]string{"code-3", "code-1", "code-2"}, b.due(t, now, 10)); diff != "" {
		t.Errorf("due now (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"code-3"}, b.due(t, now, 1)); diff != "" {
		t.Errorf("the first one due (-want +got):\n%s", diff)
	}
}

func dirtyDueTenants(t *testing.T, b DirtyBench) {
	now := b.Clock.Now()
	for i, in := range []time.Duration{-time.Hour, 0, time.Minute} {
		b.mark(t, codeOf("acme", i), reason.Overflow, "", now.Add(in))
		b.mark(t, codeOf("globex", i), reason.Overflow, "", now.Add(in))
	}
	b.mark(t, codeOf("initech", 0), reason.Overflow, "", now.Add(time.Millisecond))
	tenants, err := b.Dirty.DueTenants(t.Context(), push.DirtyWaits, now)
	slices.Sort(tenants)
	if diff := cmp.Diff([]string{"acme", "globex"}, tenants); diff != "" || err != nil {
		t.Errorf("tenants with something due: %v (-want +got):\n%s", err, diff)
	}
	if none, err := b.Dirty.DueTenants(t.Context(), push.DirtyWaits, now.Add(-2*time.Hour)); len(none) != 0 || err != nil {
		t.Errorf("tenants with something due before all = %v, %v", none, err)
	}
}

func dirtyPostponeRace(t *testing.T, b DirtyBench) {
	now := b.Clock.Now()
	b.mark(t, acme, reason.Overflow, "", now)
	seen := b.get(t, acme).Version
	winners := suitetest.Race(t, 16, func(int) (bool, error) {
		return b.Dirty.Postpone(t.Context(), acme, seen, now.Add(time.Minute))
	})
	if len(winners) != 1 {
		t.Errorf("%d keepers postponed one entry", len(winners))
	}
}

func dirtyPostpone(t *testing.T, b DirtyBench) {
	now := b.Clock.Now()
	b.mark(t, acme, reason.Overflow, "x", now)
	seen := b.get(t, acme).Version
	b.postpone(t, seen, now.Add(time.Minute))
	if got := b.due(t, now, 10); len(got) != 0 {
		t.Errorf("a postponed code is still due: %v", got)
	}
	b.want(t, acme, Entry{
		Ref: acme, Reasons: []reason.Reason{reason.Overflow}, Detail: "x", Due: now.Add(time.Minute),
		FirstSeen: now, LastSeen: now, Count: 1, Attempts: 1,
	})
	b.wantKept(t, seen)
	version := b.get(t, acme).Version
	b.wantRemoved(t, version)
	b.wantKept(t, version)
	if ok, err := b.Dirty.Postpone(t.Context(), acme, version, now); ok || err != nil {
		t.Errorf("a clean code was postponed: %v, %v", ok, err)
	}
}

func dirtyMarkAfterPostpone(t *testing.T, b DirtyBench) {
	now := b.Clock.Now()
	b.mark(t, acme, reason.Overflow, "", now)
	b.postpone(t, b.get(t, acme).Version, now.Add(time.Hour))
	version := b.get(t, acme).Version
	b.mark(t, acme, reason.Transient, "", now.Add(time.Minute))
	b.wantKept(t, version)
	if got := b.get(t, acme); !got.Due.Equal(now.Add(time.Minute)) || got.Attempts != 1 {
		t.Errorf("a mark after it was postponed: %+v, want due in a minute", got)
	}
}

func dirtyRemoveMany(t *testing.T, b DirtyBench) {
	const n = 10
	now := b.Clock.Now()
	for i := range n {
		b.mark(t, codeOf("acme", i), reason.Overflow, "", now)
	}
	seen, err := b.Dirty.DueOf(t.Context(), push.DirtyWaits, "acme", now, n)
	if err != nil || len(seen) != n {
		t.Fatalf("DueOf = %d entries, %v", len(seen), err)
	}
	b.mark(t, codeOf("acme", 3), reason.Transient, "", now)
	if removed, err := b.Dirty.Remove(t.Context(), seen...); removed != n-1 || err != nil {
		t.Errorf("Remove = %d, %v; want all but the one marked since", removed, err)
	}
	if diff := cmp.Diff([]string{"code-3"}, b.due(t, now, n)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if removed, err := b.Dirty.Remove(t.Context()); removed != 0 || err != nil {
		t.Errorf("Remove of nothing = %d, %v", removed, err)
	}
}

func codeOf(tenant string, i int) push.Ref {
	return push.Ref{Tenant: tenant, Code: fmt.Sprintf("code-%d", i)}
}

func dirtyRecreated(t *testing.T, b DirtyBench) {
	now := b.Clock.Now()
	b.mark(t, acme, reason.Overflow, "", now)
	old := b.get(t, acme).Version
	b.wantRemoved(t, old)
	b.mark(t, acme, reason.Overflow, "", now)
	b.wantKept(t, old)
}

// dirtyMarkBesideRemove: keepers remove what they have seen while others mark.
// A removal takes the marks that its version covers and no other, so every mark
// is either in a removed entry or in the one that is left.
func dirtyMarkBesideRemove(t *testing.T, b DirtyBench) {
	const racers, marks = 40, 20
	var covered atomic.Int64
	suitetest.Race(t, racers, func(i int) (bool, error) {
		if i%2 == 0 {
			return true, b.Dirty.Mark(t.Context(), push.Mark{Ref: acme, Reason: reason.Transient, Due: b.Clock.Now()})
		}
		entry, found, err := b.Dirty.Get(t.Context(), acme)
		if !found || err != nil {
			return false, err
		}
		removed, err := b.Dirty.Remove(t.Context(), entry)
		if removed == 1 {
			covered.Add(int64(entry.Count))
		}
		return removed == 1, err
	})
	left, _, err := b.Dirty.Get(t.Context(), acme)
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	if got := covered.Load() + int64(left.Count); got != marks {
		t.Errorf("%d marks are accounted for, want %d", got, marks)
	}
}

func dirtyCancelled(t *testing.T, b DirtyBench) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := b.Dirty.Mark(ctx, push.Mark{Ref: acme, Reason: reason.Overflow, Due: b.Clock.Now()})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Mark = %v, want context.Canceled", err)
	}
}

func dirtyReleased(t *testing.T, b DirtyBench) {
	now := b.Clock.Now()
	b.mark(t, acme, reason.Overflow, "x", now)
	entry := b.get(t, acme)
	b.mark(t, codeOf("acme", 2), reason.Overflow, "", now)
	marked := b.get(t, codeOf("acme", 2))
	b.mark(t, codeOf("acme", 2), reason.Throttled, "", now.Add(time.Hour))
	entry.Confirm, marked.Confirm = now.Add(30*time.Second), now.Add(time.Second)
	didChange(t, "Release of two, one marked since", 1)(b.Dirty.Release(t.Context(), entry, marked))
	b.want(t, acme, Entry{
		Ref: acme, Reasons: []reason.Reason{reason.Overflow}, Detail: "x", State: push.DirtyReleased, Released: now, Confirm: now.Add(30 * time.Second),
		FirstSeen: now, LastSeen: now, Count: 1, Attempts: 1,
	})
	if got := b.due(t, now.Add(time.Hour), 10); !cmp.Equal(got, []string{"code-2"}) {
		t.Errorf("due are %v; want the one that was not released", got)
	}
	if got := b.unconfirmed(t, now.Add(30*time.Second-1)); len(got) != 0 {
		t.Errorf("%v are to be looked at before their time", got)
	}
	entry = b.get(t, acme)
	entry.Confirm = now.Add(time.Minute)
	didChange(t, "Defer", 1)(b.Dirty.Defer(t.Context(), entry))
	didChange(t, "Defer of what was deferred", 0)(b.Dirty.Defer(t.Context(), entry))
	if got := b.unconfirmed(t, now.Add(time.Minute)); !cmp.Equal(got, []string{acme.Code}) {
		t.Errorf("%v are to be looked at; want the deferred one", got)
	}
	entry = b.get(t, acme)
	entry.Due = now.Add(time.Hour)
	didChange(t, "Repeat", 1)(b.Dirty.Repeat(t.Context(), entry))
	b.want(t, acme, Entry{
		Ref: acme, Reasons: []reason.Reason{reason.Overflow}, Detail: "x", State: push.DirtyRepair, Due: now.Add(time.Hour), Released: now,
		FirstSeen: now, LastSeen: now, Count: 1, Attempts: 1,
	})
	didChange(t, "Release of none", 0)(b.Dirty.Release(t.Context()))
}

func dirtyStates(t *testing.T, b DirtyBench) {
	now := b.Clock.Now()
	waits, mend, both, again := codeOf("acme", 1), codeOf("acme", 2), codeOf("globex", 3), codeOf("acme", 4)
	b.mark(t, waits, reason.Throttled, "", now)
	b.mark(t, mend, reason.Transient, "", now)
	b.mark(t, both, reason.Stale, "", now)
	b.mark(t, both, reason.Overflow, "", now)
	b.mark(t, again, reason.Transient, "", now)
	released := b.get(t, again)
	released.Confirm = now.Add(time.Minute)
	didChange(t, "Release", 1)(b.Dirty.Release(t.Context(), released))
	b.mark(t, again, reason.Throttled, "", now.Add(time.Second))
	if got := b.get(t, again); got.State != push.DirtyWaits || !got.Due.Equal(now.Add(time.Second)) || !got.Confirm.IsZero() || got.Attempts != 0 {
		t.Errorf("a released code that has to wait again: %+v", got)
	}
	for state, want := range map[push.DirtyState][]string{
		push.DirtyWaits: {waits.Code, again.Code}, push.DirtyRepair: {mend.Code}, push.DirtyReleased: nil,
	} {
		entries, err := b.Dirty.DueOf(t.Context(), state, "acme", now.Add(time.Minute), 10)
		if diff := cmp.Diff(want, codesOf(entries), cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", state, err, diff)
		}
	}
	tenants, err := b.Dirty.DueTenants(t.Context(), push.DirtyWaits, now)
	slices.Sort(tenants)
	if diff := cmp.Diff([]string{"acme", "globex"}, tenants); diff != "" || err != nil {
		t.Errorf("tenants with work that waits: %v (-want +got):\n%s", err, diff)
	}
	tenants, err = b.Dirty.DueTenants(t.Context(), push.DirtyRepair, now)
	if diff := cmp.Diff([]string{"acme"}, tenants); diff != "" || err != nil {
		t.Errorf("tenants with something to mend: %v (-want +got):\n%s", err, diff)
	}
}

// didChange checks how many entries a call changed.
func didChange(t *testing.T, what string, want int) func(n int, err error) {
	t.Helper()
	return func(n int, err error) {
		t.Helper()
		if n != want || err != nil {
			t.Errorf("%s: %d entries, %v; want %d", what, n, err, want)
		}
	}
}

func (b DirtyBench) unconfirmed(t *testing.T, now time.Time) []string {
	t.Helper()
	entries, err := b.Dirty.Unconfirmed(t.Context(), now, 10)
	if err != nil {
		t.Fatalf("Unconfirmed: %v", err)
	}
	return codesOf(entries)
}

func codesOf(entries []Entry) []string {
	var codes []string
	for _, e := range entries {
		codes = append(codes, e.Code)
	}
	return codes
}

func (b DirtyBench) mark(t *testing.T, ref push.Ref, why reason.Reason, detail string, due time.Time) {
	t.Helper()
	if err := b.Dirty.Mark(t.Context(), push.Mark{Ref: ref, Reason: why, Detail: detail, Due: due}); err != nil {
		t.Fatalf("Mark(%v): %v", ref, err)
	}
}

func (b DirtyBench) get(t *testing.T, ref push.Ref) Entry {
	t.Helper()
	entry, found, err := b.Dirty.Get(t.Context(), ref)
	if err != nil || !found {
		t.Fatalf("Get(%v) = %v, %v; want an entry", ref, found, err)
	}
	return entry
}

// want compares an entry, its version apart, which only has to be there.
func (b DirtyBench) want(t *testing.T, ref push.Ref, want Entry) {
	t.Helper()
	got := b.get(t, ref)
	if got.Version == "" {
		t.Error("an entry has no version")
	}
	got.Version = ""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
}

func (b DirtyBench) postpone(t *testing.T, seen string, until time.Time) {
	t.Helper()
	if ok, err := b.Dirty.Postpone(t.Context(), acme, seen, until); !ok || err != nil {
		t.Fatalf("Postpone = %v, %v; want true", ok, err)
	}
	if b.get(t, acme).Version == seen {
		t.Error("postponing did not change the version")
	}
}

func (b DirtyBench) wantRemoved(t *testing.T, seen string) {
	t.Helper()
	if n, err := b.Dirty.Remove(t.Context(), Entry{Ref: acme, Version: seen}); n != 1 || err != nil {
		t.Errorf("Remove = %d, %v; want 1", n, err)
	}
}

func (b DirtyBench) wantKept(t *testing.T, seen string) {
	t.Helper()
	if n, err := b.Dirty.Remove(t.Context(), Entry{Ref: acme, Version: seen}); n != 0 || err != nil {
		t.Errorf("Remove of an entry that is another now = %d, %v; want 0", n, err)
	}
}

func (b DirtyBench) due(t *testing.T, now time.Time, limit int) []string {
	t.Helper()
	entries, err := b.Dirty.DueOf(t.Context(), push.DirtyWaits, "acme", now, limit)
	if err != nil {
		t.Fatalf("Due: %v", err)
	}
	return codesOf(entries)
}
