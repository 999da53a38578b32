//go:build integration

package mongostore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// What a plan is read from is what Load reads of each code alone, all days of its
// counters beside it, and nobody else's.
func TestPlanningReadsTheTenantAlone(t *testing.T) {
	now := time.Date(2026, 12, 1, 4, 0, 0, 0, time.UTC)
	ctx, w := t.Context(), newWorld(t, func() time.Time { return now })
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	facts, store := w.Facts(), w.Store()
	for _, tenant := range []string{"acme", "acme0", "acm"} {
		must(facts.PutTenant(ctx, roster.Tenant{ID: tenant, DailyTotal: 9}))
		must(facts.PutStaff(ctx, tenant, roster.Staff{ID: "amy"}, roster.Staff{ID: "bob", Resigned: true}))
		for i := range 3 {
			must(facts.PutCodes(ctx, roster.Code{ID: fmt.Sprint(tenant, "-", i), Tenant: tenant, Family: roster.Native, Members: []roster.Member{{Staff: "amy"}}}))
		}
	}
	ref := push.Ref{Tenant: "acme", Code: "acme-1"}
	for _, day := range []roster.Day{"20261126", "20261130", "20261201"} {
		must(facts.CountAddition(ctx, mongostore.Addition{Ref: ref, Staff: "amy", Day: day}))
	}
	intent := push.Intent{Epoch: 1, Hash: "h", Deadline: now}
	if _, err := store.Begin(ctx, ref, 0, intent); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Commit(ctx, ref, push.Committed{Epoch: 1, Hash: "h", Members: []string{"amy"}, At: now}, nil, time.Time{}); err != nil {
		t.Fatal(err)
	}

	planning := w.Planning()
	first, err := planning.CodesAfter(ctx, "acme", "", 2)
	must(err)
	rest, err := planning.CodesAfter(ctx, "acme", first[1].Code.ID, 2)
	must(err)
	if len(first) != 2 || len(rest) != 1 || rest[0].Code.ID != "acme-2" {
		t.Fatalf("pages of %d and %d codes", len(first), len(rest))
	}
	alone, _, err := store.Load(ctx, ref)
	must(err)
	if diff := cmp.Diff(alone.Code, first[1].Code, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the code (-alone +in a page):\n%s", diff)
	}
	if days := first[1].Counters.Days; len(days) != 3 || days["20261126"]["amy"] != 1 || first[1].Counters.Total["amy"] != 3 {
		t.Errorf("counters: %+v", first[1].Counters)
	}
	if !first[1].LastPush.Equal(now) || !first[0].LastPush.IsZero() {
		t.Errorf("pushed last: %v and %v", first[1].LastPush, first[0].LastPush)
	}
	staff, err := planning.StaffAfter(ctx, "acme", "", 10)
	must(err)
	if len(staff) != 2 || staff[0].ID != "amy" || staff[0].Added["20261201"] != 1 || !staff[1].Resigned {
		t.Errorf("staff: %+v", staff)
	}
	tenants, err := planning.TenantsAfter(ctx, "acm", 1)
	must(err)
	if len(tenants) != 1 || tenants[0].ID != "acme" || tenants[0].DailyTotal != 9 {
		t.Errorf("tenants: %+v", tenants)
	}
	if _, err := planning.Tenant(ctx, "nobody"); !errors.Is(err, plan.ErrUnknownTenant) {
		t.Errorf("an unknown tenant: %v", err)
	}
}
