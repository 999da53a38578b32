package fanouttest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

func rowLife(t *testing.T, b Bench) {
	job := b.claimed(t)
	if _, ok, err := b.Store.TakeRow(t.Context(), job, 0); ok || err != nil {
		t.Errorf("TakeRow of none = %v, %v; want false", ok, err)
	}
	b.addRow(t, job, 0, "a", "b")
	b.addRow(t, job, 1, "c")
	b.wantRow(t, job, 0, "a", "b")
	b.wantRow(t, job, 1, "c")
	b.wantRow(t, job, 0, "a", "b") // again

	later := b.claim(t, job, noon.Add(lease))
	b.wantRow(t, later, 0, "a", "b") // where the earlier claim left off
	b.endRow(t, later, 0)
	b.wantNoRow(t, later)
	b.wantRow(t, later, 1, "c")
}

func rowReplaced(t *testing.T, b Bench) {
	job := b.claimed(t)
	b.addRow(t, job, 0, "a", "b")
	b.addRow(t, job, 0, "a") // the same claim, whose progress did not count it
	b.wantRow(t, job, 0, "a")
	later := b.claim(t, job, noon.Add(lease))
	b.addRow(t, later, 0, "b", "c")
	b.wantNoRow(t, job)
	b.wantRow(t, later, 0, "b", "c")
}

func rowOlderAdd(t *testing.T, b Bench) {
	lost := b.claimed(t)
	job := b.claim(t, lost, noon.Add(lease))
	b.addRow(t, job, 0, "a")
	suitetest.Refused(t, "AddRow by an older claim")(
		b.Store.AddRow(t.Context(), lost, fanout.Row{Codes: []string{"z"}, State: fanout.Pending}),
	)
	b.wantRow(t, job, 0, "a")

	// A row that nobody has written yet is harmless: the later claim writes over it.
	suitetest.Accepted(t, "AddRow by an older claim where there is none")(
		b.Store.AddRow(t.Context(), lost, fanout.Row{Seq: 1, Codes: []string{"z"}, State: fanout.Pending}),
	)
	b.addRow(t, job, 1, "b")
	b.wantRow(t, job, 1, "b")
}

func rowOlderTake(t *testing.T, b Bench) {
	lost := b.claimed(t)
	b.addRow(t, lost, 0, "a")
	job := b.claim(t, lost, noon.Add(lease))
	b.wantRow(t, lost, 0, "a") // the later claim has not come to it
	b.wantRow(t, job, 0, "a")
	b.wantNoRow(t, lost)
	b.endRow(t, lost, 0)
	b.wantRow(t, job, 0, "a")
}

func rowEpoch(t *testing.T, b Bench) {
	old := b.claimed(t)
	b.addRow(t, old, 0, "a")
	b.request(t, liNa, "second", noon)
	job := b.claim(t, b.job(t, old.ID), noon.Add(lease))
	b.wantNoRow(t, job)
	b.addRow(t, job, 0, "b")
	b.wantRow(t, job, 0, "b")
	b.wantRow(t, old, 0, "a")
}

func rowCleared(t *testing.T, b Bench) {
	first := b.claimed(t)
	b.addRow(t, first, 0, "a")
	b.request(t, liNa, "second", noon)
	second := b.claim(t, b.job(t, first.ID), noon.Add(lease))
	b.addRow(t, second, 0, "b")
	other := b.claim(t, b.job(t, b.request(t, acme, "first", noon).ID), noon)
	b.addRow(t, other, 0, "c")

	b.clear(t, second, 2)
	b.clear(t, second, 2)
	b.wantNoRow(t, first)
	b.wantRow(t, second, 0, "b")
	b.wantRow(t, other, 0, "c")
	b.clear(t, second, 3)
	b.wantNoRow(t, second)
	b.wantRow(t, other, 0, "c")
}

func (b Bench) addRow(t *testing.T, job fanout.Job, seq int, codes ...string) {
	t.Helper()
	ok, err := b.Store.AddRow(t.Context(), job, fanout.Row{Seq: seq, Codes: codes, State: fanout.Pending})
	if !ok || err != nil {
		t.Fatalf("AddRow %d = %v, %v; want true", seq, ok, err)
	}
}

func (b Bench) endRow(t *testing.T, job fanout.Job, seq int) {
	t.Helper()
	if err := b.Store.EndRow(t.Context(), job, seq); err != nil {
		t.Fatalf("EndRow %d: %v", seq, err)
	}
}

func (b Bench) clear(t *testing.T, job fanout.Job, before int64) {
	t.Helper()
	if err := b.Store.Clear(t.Context(), job, before); err != nil {
		t.Fatalf("Clear before epoch %d: %v", before, err)
	}
}

// wantRow takes a row and fails unless it holds these codes.
func (b Bench) wantRow(t *testing.T, job fanout.Job, seq int, codes ...string) {
	t.Helper()
	row, ok, err := b.Store.TakeRow(t.Context(), job, seq)
	if !ok || err != nil {
		t.Errorf("TakeRow %d = %v, %v; want true", seq, ok, err)
		return
	}
	want := fanout.Row{Seq: seq, Codes: codes, State: fanout.InProgress}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
}

// wantNoRow fails unless the job's first row cannot be taken.
func (b Bench) wantNoRow(t *testing.T, job fanout.Job) {
	t.Helper()
	if row, ok, err := b.Store.TakeRow(t.Context(), job, 0); ok || err != nil {
		t.Errorf("TakeRow 0 = %v, %v, %v; want none", row, ok, err)
	}
}

// seed writes codes of two tenants: li.na is a member of a, a backup of b, and
// of the tenant's fallback, which d falls back to.
func (b Bench) seed() {
	member := []roster.Member{{Staff: "wang"}, {Staff: "li.na"}}
	other := []roster.Member{{Staff: "wang"}}
	b.PutTenant(roster.Tenant{ID: "acme", Fallback: []string{"zhao"}})
	b.PutTenant(roster.Tenant{ID: "globex", Fallback: []string{"li.na"}})
	b.PutCodes(
		roster.Code{ID: "a", Tenant: "acme", Members: member},
		roster.Code{ID: "b", Tenant: "acme", Members: other, Backups: []string{"li.na"}},
		roster.Code{ID: "c", Tenant: "acme", Members: other},
		roster.Code{ID: "d", Tenant: "acme", Members: other, OnEmpty: roster.TenantFallback},
		roster.Code{ID: "e", Tenant: "acme", Members: member, Deleted: true},
		roster.Code{ID: "f", Tenant: "globex", Members: member},
	)
}

func codesOfMember(t *testing.T, b Bench) {
	b.seed()
	b.wantCodes(t, liNa, "", 10, "a", "b")
	b.wantCodes(t, fanout.Scope{Tenant: "globex", Staff: "li.na"}, "", 10, "f")
}

func codesOfTenant(t *testing.T, b Bench) {
	b.seed()
	b.wantCodes(t, acme, "", 10, "a", "b", "c", "d")
	b.wantCodes(t, fanout.Scope{Tenant: "globex"}, "", 10, "f")
}

func codesPaged(t *testing.T, b Bench) {
	b.seed()
	b.wantCodes(t, acme, "", 2, "a", "b")
	b.wantCodes(t, acme, "b", 2, "c", "d")
	b.wantCodes(t, acme, "d", 2)
	b.wantCodes(t, acme, "bb", 1, "c")
	b.wantCodes(t, liNa, "a", 2, "b")
}

func codesOfNobody(t *testing.T, b Bench) {
	b.seed()
	b.wantCodes(t, fanout.Scope{Tenant: "acme", Staff: "li"}, "", 10)
	b.wantCodes(t, fanout.Scope{Tenant: "initech"}, "", 10)
}

func codesOfFallback(t *testing.T, b Bench) {
	b.seed()
	b.wantCodes(t, fanout.Scope{Tenant: "acme", Staff: "zhao"}, "", 10, "d")
	b.PutTenant(roster.Tenant{ID: "acme", Fallback: []string{"zhao", "li.na"}})
	b.wantCodes(t, liNa, "", 10, "a", "b", "d")
}

func (b Bench) wantCodes(t *testing.T, scope fanout.Scope, after string, limit int, want ...string) {
	t.Helper()
	got, err := b.Codes.Of(t.Context(), scope, after, limit)
	if err != nil {
		t.Fatalf("Of: %v", err)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("codes of %v after %q, %d at most: %v, want %v", scope, after, limit, got, want)
	}
}
