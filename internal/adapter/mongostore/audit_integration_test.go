//go:build integration

package mongostore_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/backstop/audit/audittest"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

func TestPassesConform(t *testing.T) {
	audittest.TestPasses(t, func(t *testing.T) audit.Passes { return newWorld(t, time.Now).Passes() })
}

// What is read of many codes is what is read of each alone.
func TestLooksAreWhatLoadReads(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	facts, store := w.Facts(), w.Store()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(facts.PutTenant(ctx, roster.Tenant{ID: "acme", DailyTotal: 9, Fallback: []string{"eve"}, Mode: roster.Live, Term: 2}))
	must(facts.PutTenant(ctx, roster.Tenant{ID: "globex"}))
	for i := range 7 {
		must(facts.PutStaff(ctx, "acme", roster.Staff{ID: fmt.Sprint("s", i), Resigned: i == 3}))
	}
	must(facts.PutStaff(ctx, "acme", roster.Staff{ID: "eve"}))
	var refs []push.Ref
	for i := range 7 {
		ref := push.Ref{Tenant: "acme", Code: fmt.Sprint("code-", i)}
		if i == 4 {
			ref.Tenant = "globex"
		}
		refs = append(refs, ref)
		must(facts.PutCodes(ctx, roster.Code{
			ID: ref.Code, Tenant: ref.Tenant, Family: roster.Native, ConfigID: "cfg", OnEmpty: roster.TenantFallback,
			Members: []roster.Member{{Staff: fmt.Sprint("s", i)}, {Staff: "s0"}, {Staff: "nobody"}},
		}))
	}
	intent := push.Intent{Epoch: 1, Hash: "h", Deadline: time.Now().UTC().Truncate(time.Millisecond)}
	if _, err := store.Begin(ctx, refs[1], 0, intent); err != nil {
		t.Fatal(err)
	}
	must(w.Dirty().Mark(ctx, push.Mark{Ref: refs[2], Reason: reason.Transient, Due: time.Now()}))

	looks := w.Looks()
	first, err := looks.Page(ctx, "", 4)
	must(err)
	second, err := looks.Page(ctx, first[3].Code, 4)
	must(err)
	all := slices.Concat(first, second)
	named, err := looks.Of(ctx, refs)
	must(err)
	if diff := cmp.Diff(all, named); diff != "" || len(all) != len(refs) {
		t.Fatalf("%d codes; by page and by name (-page +name):\n%s", len(all), diff)
	}
	for i, look := range all {
		wantFacts, wantRecord, err := store.Load(ctx, refs[i])
		must(err)
		want := audit.Look{Ref: refs[i], Facts: wantFacts, Record: wantRecord, Dirty: i == 2}
		if diff := cmp.Diff(want, look, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("code %d (-alone +among many):\n%s", i, diff)
		}
	}
	recorded, err := looks.Recorded(ctx, push.Ref{}, 10)
	must(err)
	if diff := cmp.Diff([]push.Ref{refs[1]}, recorded); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
	if rest, err := looks.Recorded(ctx, refs[1], 10); len(rest) != 0 || err != nil {
		t.Errorf("after the last record: %v, %v", rest, err)
	}
}

func TestLooksSayWhatIsWrong(t *testing.T) {
	ctx, w := t.Context(), newWorld(t, time.Now)
	if err := w.Facts().PutTenant(ctx, roster.Tenant{ID: "acme"}); err != nil {
		t.Fatal(err)
	}
	code := func(id, tenant string) roster.Code { return roster.Code{ID: id, Tenant: tenant, Family: roster.Native} }
	if err := w.Facts().PutCodes(ctx, code("a", "acme"), code("b", "nobody")); err != nil {
		t.Fatal(err)
	}
	looks, err := w.Looks().Of(ctx, []push.Ref{
		{Tenant: "acme", Code: "a"}, {Tenant: "nobody", Code: "b"}, {Tenant: "globex", Code: "a"}, {Tenant: "acme", Code: "none"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []error{nil, push.ErrUnknownTenant, push.ErrWrongTenant, push.ErrUnknownCode} {
		if !errors.Is(looks[i].Wrong, want) {
			t.Errorf("code %d is wrong by %v; want %v", i, looks[i].Wrong, want)
		}
	}
}

func TestFindingsAreKeptOnce(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	ctx, w := t.Context(), newWorld(t, func() time.Time { return now })
	ref := push.Ref{Tenant: "acme", Code: "c"}
	note := func(kind reason.Reason, detail string) {
		t.Helper()
		if err := w.Findings().Note(ctx, audit.Finding{Ref: ref, Kind: kind, Detail: detail}); err != nil {
			t.Fatal(err)
		}
	}
	begun := now
	note(reason.StaffMissing, "zoe")
	note(reason.SetOrphaned, "x")
	now = now.Add(time.Hour)
	note(reason.StaffMissing, "zoe and yan")
	got, err := w.Findings().List(ctx, now.Add(-time.Minute), 10)
	want := []mongostore.Found{{Ref: ref, Kind: reason.StaffMissing, Detail: "zoe and yan", FirstSeen: begun, LastSeen: now}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if all, err := w.Findings().List(ctx, begun, 10); len(all) != 2 || err != nil {
		t.Errorf("%d findings, %v; want 2", len(all), err)
	}
}
