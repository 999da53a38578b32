//go:build integration

package mongostore_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

func TestTheDirectory(t *testing.T) {
	w := newWorld(t, time.Now)
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tenant := range []string{"acme", "acme2", "globex"} {
		must(w.Facts().PutTenant(ctx, roster.Tenant{ID: tenant}))
		must(w.Facts().PutStaff(ctx, tenant, roster.Staff{ID: "li.na"}, roster.Staff{ID: "li/x"}, roster.Staff{ID: "李娜"}))
	}
	must(w.Facts().PutStaff(ctx, "globex", roster.Staff{ID: "amy"}))
	must(w.Facts().PutCodes(ctx, roster.Code{ID: "fair-1", Tenant: "acme"}, roster.Code{ID: "fair-2", Tenant: "globex"},
		roster.Code{ID: "fair-3", Tenant: "acme"}, roster.Code{ID: "fai", Tenant: "acme"}, roster.Code{ID: "fais", Tenant: "acme"}))
	d := w.Directory()
	refs := func(got []push.Ref, err error) []string {
		must(err)
		var all []string
		for _, ref := range got {
			all = append(all, ref.Tenant+"/"+ref.Code)
		}
		return all
	}
	names := func(got []string, err error) []string { must(err); return got }
	for what, test := range map[string][2][]string{
		"codes of all":         {refs(d.Codes(ctx, "", "fair-", 10)), {"acme/fair-1", "globex/fair-2", "acme/fair-3"}},
		"codes of one":         {refs(d.Codes(ctx, "acme", "fair", 10)), {"acme/fair-1", "acme/fair-3"}},
		"no more than asked":   {refs(d.Codes(ctx, "", "fair-", 2)), {"acme/fair-1", "globex/fair-2"}},
		"tenants":              {names(d.Tenants(ctx, "acme", 10)), {"acme", "acme2"}},
		"all tenants":          {names(d.Tenants(ctx, "", 10)), {"acme", "acme2", "globex"}},
		"staff of one":         {names(d.Staff(ctx, "acme", "li", 10)), {"li.na", "li/x"}},
		"staff with other IDs": {names(d.Staff(ctx, "acme", "李", 10)), {"李娜"}},
		"colleagues":           {names(d.Colleagues(ctx, []string{"acme", "globex", "nobody"}, "amy")), {"globex"}},
		"nobody":               {names(d.Staff(ctx, "acme", "amy", 10)), {}},
	} {
		if diff := cmp.Diff(test[1], test[0]); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}

func TestDecisionsOfATenant(t *testing.T) {
	w := newWorld(t, time.Now)
	for i, tenant := range []string{"acme", "globex", "acme", ""} {
		taken := decision.New("li.na", decision.Refresh, tenant, time.Now().Add(time.Duration(i)*time.Second))
		taken.Tenant = tenant
		if err := w.Decisions().Begin(t.Context(), taken); err != nil {
			t.Fatal(err)
		}
	}
	got, err := w.Decisions().ListOf(t.Context(), "acme", 10)
	if err != nil || len(got) != 2 || !got[0].At.After(got[1].At) {
		t.Errorf("%+v, %v", got, err)
	}
}
