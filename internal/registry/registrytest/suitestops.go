package registrytest

import (
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

func stops(t *testing.T, f registry.Facts) {
	ctx := t.Context()
	hold := roster.Stop{Since: at, Until: at.Add(time.Hour), By: "ann", Why: "incident 42"}
	open := roster.Stop{Since: at, By: "ann", Why: "he is ill"}
	must(t, f.EditTenant(ctx, registry.TenantEdit{Tenant: "acme", Hold: registry.To(hold)}, "s1"))
	must(t, f.EditStaff(ctx, "acme", []registry.StaffEdit{{Staff: "li.na", Off: registry.To(open)}}, "s1"))
	_, err := f.PutCodes(ctx, "acme", []registry.CodeEdit{{Code: "c1", Family: registry.To(roster.Native)}})
	must(t, err)
	must(t, f.HoldCode(ctx, "acme", "c1", hold))
	wantErr(t, "a hold across tenants", f.HoldCode(ctx, "globex", "c1", hold), registry.ErrUnknownCode)
	wantErr(t, "a hold on no code", f.HoldCode(ctx, "acme", "c2", hold), registry.ErrUnknownCode)

	// Producers write on, and know nothing of it.
	must(t, f.EditTenant(ctx, registry.TenantEdit{Tenant: "acme", DailyTotal: registry.To(5)}, "s2"))
	must(t, f.ChangeStaff(ctx, "acme", registry.StaffEdit{Staff: "li.na", Presence: registry.To(roster.Online)}, "s2"))
	before := codeNamed(t, f, "c1")
	must(t, f.ChangeCode(ctx, "acme", registry.CodeEdit{Code: "c1", Remark: registry.To("spring")}))
	wantStops(t, f, hold, open, hold)

	must(t, f.EditTenant(ctx, registry.TenantEdit{Tenant: "acme", Hold: registry.To(roster.Stop{})}, "s3"))
	must(t, f.ChangeStaff(ctx, "acme", registry.StaffEdit{Staff: "li.na", Off: registry.To(roster.Stop{})}, "s3"))
	must(t, f.HoldCode(ctx, "acme", "c1", roster.Stop{}))
	wantStops(t, f, roster.Stop{}, roster.Stop{}, roster.Stop{})
	if after := codeNamed(t, f, "c1"); after.Revision != before.Revision+1 {
		t.Errorf("revision %d, want %d: a hold is no edit", after.Revision, before.Revision+1)
	}
}

func codeNamed(t *testing.T, f registry.Facts, id string) registry.Code {
	t.Helper()
	codes, err := f.CodesOf(t.Context(), "acme", []string{id})
	must(t, err)
	return codes[id]
}

func wantStops(t *testing.T, f registry.Facts, tenant, staff, code roster.Stop) {
	t.Helper()
	company, err := f.Tenant(t.Context(), "acme")
	must(t, err)
	people, err := f.StaffOf(t.Context(), "acme", []string{"li.na"})
	must(t, err)
	suitetest.WantSame(t, "the tenant's hold", tenant, company.Hold)
	suitetest.WantSame(t, "li.na's stop", staff, people["li.na"].Off)
	suitetest.WantSame(t, "the code's hold", code, codeNamed(t, f, "c1").Hold)
}
