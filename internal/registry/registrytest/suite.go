package registrytest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

// Bench makes an empty store of facts on a clock.
type Bench func(t *testing.T, now func() time.Time) registry.Facts

type factsTest func(t *testing.T, f registry.Facts)

var factsTests = map[string]factsTest{
	"a tenant is made, changed and read":                   tenantPut,
	"a field that an edit does not name stays":             tenantFieldsStay,
	"the stamp of a write is cleared by its own name only": stamps,
	"what was left behind is found by its age":             leftBehind,
	"staff are made, changed and read":                     staffPut,
	"a change of a staff member who is not there":          staffUnknown,
	"a schedule is removed, a quarantine ended":            staffRemovals,
	"what operators stop is kept until they release it":    stops,
	"staff of tenants with like names stay apart":          staffApart,
	"a code is made, changed and read":                     codePut,
	"a code of another tenant is not written":              codeTaken,
	"of two tenants one gets a new code":                   codeRace,
	"a code is retired and comes back":                     codeRetired,
	"a change of a code that is not there":                 codeUnknown,
	"lists go on where the page before ended":              lists,
	"the codes of a staff member":                          listOf,
}

// at is the suite's clock, in the milliseconds that stores keep.
var at = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// TestFacts holds a store to the contract of registry.Facts.
func TestFacts(t *testing.T, bench Bench) {
	for name, test := range factsTests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, bench(t, func() time.Time { return at }))
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func tenantPut(t *testing.T, f registry.Facts) {
	ctx := t.Context()
	_, err := f.Tenant(ctx, "acme")
	wantErr(t, "an unknown tenant", err, registry.ErrUnknownTenant)
	must(t, f.EditTenant(ctx, registry.TenantEdit{
		Tenant: "acme", TimeZone: registry.To("Asia/Tokyo"), DailyTotal: registry.To(60), Fallback: registry.To([]string{"a", "b"}),
		Tier: registry.To("premium"), Whitelisted: registry.To(true), MaxRemovalShare: registry.To(0.25),
		Lane: registry.To(roster.LaneFast),
	}, "s1"))
	got, err := f.Tenant(ctx, "acme")
	must(t, err)
	suitetest.WantSame(t, "tenant", registry.Tenant{Tenant: roster.Tenant{
		ID: "acme", TimeZone: "Asia/Tokyo", DailyTotal: 60, Fallback: []string{"a", "b"}, Tier: "premium",
		Whitelisted: true, MaxRemovalShare: 0.25, Lane: roster.LaneFast,
	}, Unannounced: "s1"}, got)
}

func tenantFieldsStay(t *testing.T, f registry.Facts) {
	ctx := t.Context()
	must(t, f.EditTenant(ctx, registry.TenantEdit{Tenant: "acme", Lane: registry.To(roster.LaneSlow)}, "s1"))
	for _, mode := range []roster.Mode{roster.Shadow, roster.Live} {
		must(t, f.EditTenant(ctx, registry.TenantEdit{Tenant: "acme", Mode: registry.To(mode)}, "s1"))
	}
	must(t, f.EditTenant(ctx, registry.TenantEdit{Tenant: "acme", DailyTotal: registry.To(5)}, "s2"))
	got, err := f.Tenant(ctx, "acme")
	must(t, err)
	suitetest.WantSame(t, "tenant", registry.Tenant{
		Tenant: roster.Tenant{ID: "acme", DailyTotal: 5, Lane: roster.LaneSlow, Mode: roster.Live, Term: 2}, Unannounced: "s2",
	}, got)
}

func stamps(t *testing.T, f registry.Facts) {
	ctx := t.Context()
	must(t, f.EditTenant(ctx, registry.TenantEdit{Tenant: "acme"}, "t1"))
	must(t, f.EditStaff(ctx, "acme", []registry.StaffEdit{{Staff: "li.na"}, {Staff: "wang"}}, "s1"))
	must(t, f.EditStaff(ctx, "acme", []registry.StaffEdit{{Staff: "wang"}}, "s2"))
	must(t, f.TenantAnnounced(ctx, "acme", "another"))
	must(t, f.StaffAnnounced(ctx, "acme", []string{"li.na", "wang", "nobody"}, "s1"))
	stampsAre(t, f, "t1", map[string]string{"li.na": "", "wang": "s2"})
	must(t, f.TenantAnnounced(ctx, "acme", "t1"))
	must(t, f.StaffAnnounced(ctx, "acme", []string{"wang"}, "s2"))
	stampsAre(t, f, "", map[string]string{"li.na": "", "wang": ""})
}

func stampsAre(t *testing.T, f registry.Facts, tenant string, staff map[string]string) {
	t.Helper()
	got, err := f.Tenant(t.Context(), "acme")
	must(t, err)
	if got.Unannounced != tenant {
		t.Errorf("the tenant's stamp is %q, want %q", got.Unannounced, tenant)
	}
	known, err := f.StaffOf(t.Context(), "acme", []string{"li.na", "wang", "nobody"})
	must(t, err)
	have := map[string]string{}
	for id, one := range known {
		have[id] = one.Unannounced
	}
	suitetest.WantSame(t, "stamps", staff, have)
}

func leftBehind(t *testing.T, f registry.Facts) {
	ctx := t.Context()
	must(t, f.EditTenant(ctx, registry.TenantEdit{Tenant: "acme"}, "1-old"))
	must(t, f.EditTenant(ctx, registry.TenantEdit{Tenant: "globex"}, "2-young"))
	must(t, f.EditTenant(ctx, registry.TenantEdit{Tenant: "initech"}, "1-told"))
	must(t, f.TenantAnnounced(ctx, "initech", "1-told"))
	must(t, f.EditStaff(ctx, "acme", []registry.StaffEdit{{Staff: "li/na"}}, "1-old"))
	must(t, f.EditStaff(ctx, "globex", []registry.StaffEdit{{Staff: "wang"}}, "2-young"))
	got, err := f.LeftBehind(ctx, "2", 10)
	must(t, err)
	suitetest.WantSame(t, "left behind", []registry.LeftBehind{
		{Scope: fanout.Scope{Tenant: "acme"}, Stamp: "1-old"}, {Scope: fanout.Scope{Tenant: "acme", Staff: "li/na"}, Stamp: "1-old"},
	}, got)
	got, err = f.LeftBehind(ctx, "1", 10)
	must(t, err)
	suitetest.WantSame(t, "left behind before that", nil, got)
}

func officeHours() *roster.Schedule {
	s := &roster.Schedule{TimeZone: "Asia/Tokyo", Special: map[roster.Day][]roster.Shift{"20261001": nil}}
	s.Weekly[1] = []roster.Shift{{From: 540, To: 720}, {From: 780, To: 1080}}
	return s
}

func staffPut(t *testing.T, f registry.Facts) {
	ctx := t.Context()
	must(t, f.EditStaff(ctx, "acme", []registry.StaffEdit{
		{Staff: "li.na", Schedule: registry.To(officeHours()), Presence: registry.To(roster.OfflineNow), Resigned: registry.To(true)},
		{Staff: "$w%ng.wu@corp/x"},
	}, "s1"))
	must(t, f.EditStaff(ctx, "acme", []registry.StaffEdit{{Staff: "li.na", Presence: registry.To(roster.Online)}}, "s2"))
	must(t, f.ChangeStaff(ctx, "acme", registry.StaffEdit{Staff: "li.na", Resigned: registry.To(false)}, "s3"))
	got, err := f.StaffOf(ctx, "acme", []string{"li.na", "$w%ng.wu@corp/x", "nobody"})
	must(t, err)
	suitetest.WantSame(t, "staff", map[string]registry.Staff{
		"li.na":           {Staff: roster.Staff{ID: "li.na", Schedule: officeHours(), Presence: roster.Online}, Unannounced: "s3"},
		"$w%ng.wu@corp/x": {Staff: roster.Staff{ID: "$w%ng.wu@corp/x"}, Unannounced: "s1"},
	}, got)
}

func staffUnknown(t *testing.T, f registry.Facts) {
	ctx := t.Context()
	must(t, f.EditStaff(ctx, "globex", []registry.StaffEdit{{Staff: "li.na"}}, "s1"))
	err := f.ChangeStaff(ctx, "acme", registry.StaffEdit{Staff: "li.na", Resigned: registry.To(true)}, "s2")
	wantErr(t, "a change of another tenant's staff", err, registry.ErrUnknownStaff)
	got, err := f.StaffOf(ctx, "acme", []string{"li.na"})
	must(t, err)
	suitetest.WantSame(t, "staff", nil, got)
}

func staffRemovals(t *testing.T, f registry.Facts) {
	ctx := t.Context()
	must(t, f.EditStaff(ctx, "acme", []registry.StaffEdit{{Staff: "li.na", Schedule: registry.To(officeHours())}}, "s1"))
	must(t, f.ChangeStaff(ctx, "acme", registry.StaffEdit{Staff: "li.na", Schedule: registry.To[*roster.Schedule](nil), Readmit: true}, "s2"))
	got, err := f.StaffOf(ctx, "acme", []string{"li.na"})
	must(t, err)
	suitetest.WantSame(t, "staff", map[string]registry.Staff{"li.na": {Staff: roster.Staff{ID: "li.na"}, Unannounced: "s2"}}, got)
}

// The names of these tenants surround "acme/" in the order of bytes.
func staffApart(t *testing.T, f registry.Facts) {
	ctx := t.Context()
	for _, tenant := range []string{"acme", "acme-x", "acme.x", "acme0", "acm"} {
		must(t, f.EditStaff(ctx, tenant, []registry.StaffEdit{{Staff: "of-" + tenant}, {Staff: "zzz"}}, "s"))
	}
	got, err := f.ListStaff(ctx, "acme", registry.Page{Limit: 10})
	must(t, err)
	suitetest.WantSame(t, "staff of acme", []string{"of-acme", "zzz"}, idsOf(got, func(s registry.Staff) string { return s.ID }))
}

func wholeCode() registry.CodeEdit {
	return registry.CodeEdit{
		Code: "c", ConfigID: registry.To("cfg"), Family: registry.To(roster.Quota),
		Members: registry.To([]roster.Member{{Staff: "li.na", AddLimit: 1, DailyLimit: 2, RoundLimit: 3}, {Staff: "wang"}}),
		Backups: registry.To([]string{"b"}), Switches: registry.To(roster.Switches{DailyLimit: true}),
		OnEmpty: registry.To(roster.TenantFallback), Remark: registry.To("booth 7"), State: registry.To("s"),
		SkipVerify: registry.To(true),
	}
}

func codePut(t *testing.T, f registry.Facts) {
	ctx := t.Context()
	put(t, f, "acme", wholeCode())
	must(t, f.ChangeCode(ctx, "acme", registry.CodeEdit{Code: "c", Lane: registry.To(roster.LaneSlow), Mode: registry.To(roster.Shadow)}))
	put(t, f, "acme", registry.CodeEdit{Code: "c", Switches: registry.To(roster.Switches{AddLimit: true})})
	got, err := f.CodesOf(ctx, "acme", []string{"c", "none"})
	must(t, err)
	want := wholeCode().Of(roster.Code{Tenant: "acme", Revision: 3, CreatedAt: at, UpdatedAt: at, Lane: roster.LaneSlow, Mode: roster.Shadow, Term: 1})
	want.Switches = roster.Switches{AddLimit: true}
	suitetest.WantSame(t, "codes", map[string]registry.Code{"c": {Code: want}}, got)
}

func put(t *testing.T, f registry.Facts, tenant string, edits ...registry.CodeEdit) {
	t.Helper()
	taken, err := f.PutCodes(t.Context(), tenant, edits)
	must(t, err)
	if len(taken) > 0 {
		t.Fatalf("%v are another tenant's", taken)
	}
}

func codeTaken(t *testing.T, f registry.Facts) {
	ctx := t.Context()
	put(t, f, "acme", wholeCode())
	before, err := f.CodesOf(ctx, "acme", []string{"c"})
	must(t, err)
	mine := registry.CodeEdit{Code: "mine", Family: registry.To(roster.Native)}
	other := registry.CodeEdit{Code: "c", Remark: registry.To("stolen"), Family: registry.To(roster.Native)}
	taken, err := f.PutCodes(ctx, "globex", []registry.CodeEdit{mine, other})
	must(t, err)
	suitetest.WantSame(t, "taken", []string{"c"}, taken)
	wantErr(t, "a change of it", f.ChangeCode(ctx, "globex", other), registry.ErrUnknownCode)
	after, err := f.CodesOf(ctx, "acme", []string{"c", "mine"})
	must(t, err)
	suitetest.WantSame(t, "the owner's codes", before, after)
	got, err := f.CodesOf(ctx, "globex", []string{"c", "mine"})
	must(t, err)
	if len(got) != 1 || got["mine"].Family != roster.Native {
		t.Errorf("the other tenant has %v, want the code that nobody had", got)
	}
}

func codeRace(t *testing.T, f registry.Facts) {
	ctx := t.Context()
	tenants := []string{"acme", "globex", "initech", "umbrella"}
	lost := make([]bool, len(tenants))
	var all sync.WaitGroup
	for i, tenant := range tenants {
		all.Go(func() {
			taken, err := f.PutCodes(ctx, tenant, []registry.CodeEdit{{Code: "c", Remark: registry.To(tenant)}})
			if err != nil {
				t.Error(err)
			}
			lost[i] = len(taken) > 0
		})
	}
	all.Wait()
	for i, tenant := range tenants {
		got, err := f.CodesOf(ctx, tenant, []string{"c"})
		must(t, err)
		if has := len(got) == 1 && got["c"].Remark == tenant; has == lost[i] {
			t.Errorf("%s has the code: %v; was told that it is taken: %v", tenant, got, lost[i])
		}
	}
}

func codeRetired(t *testing.T, f registry.Facts) {
	ctx := t.Context()
	put(t, f, "acme", wholeCode())
	must(t, f.ChangeCode(ctx, "acme", registry.CodeEdit{Code: "c", Deleted: registry.To(true)}))
	got, err := f.CodesOf(ctx, "acme", []string{"c"})
	must(t, err)
	if c := got["c"]; !c.Deleted || !c.DeletedAt.Equal(at) {
		t.Errorf("a retired code: %+v", c)
	}
	put(t, f, "acme", registry.CodeEdit{Code: "c", Deleted: registry.To(false), ConfigID: registry.To("")})
	got, err = f.CodesOf(ctx, "acme", []string{"c"})
	must(t, err)
	if c := got["c"]; c.Deleted || !c.DeletedAt.IsZero() || c.ConfigID != "" || c.Remark != "booth 7" {
		t.Errorf("a code that came back: %+v", c)
	}
}

func codeUnknown(t *testing.T, f registry.Facts) {
	err := f.ChangeCode(t.Context(), "acme", registry.CodeEdit{Code: "none", Remark: registry.To("x")})
	wantErr(t, "a change", err, registry.ErrUnknownCode)
	got, err := f.CodesOf(t.Context(), "acme", []string{"none"})
	must(t, err)
	suitetest.WantSame(t, "codes", nil, got)
}

func lists(t *testing.T, f registry.Facts) {
	ctx := t.Context()
	var want []string
	var staff []registry.StaffEdit
	for i := range 7 {
		id := fmt.Sprintf("n%d", i)
		want = append(want, id)
		staff = append(staff, registry.StaffEdit{Staff: id})
		put(t, f, "acme", registry.CodeEdit{Code: id})
	}
	put(t, f, "globex", registry.CodeEdit{Code: "n3x"})
	must(t, f.EditStaff(ctx, "acme", staff, "s"))
	suitetest.WantSame(t, "codes", want, paged(t, func(p registry.Page) ([]string, error) {
		codes, err := f.ListCodes(ctx, "acme", p)
		return idsOf(codes, func(c registry.Code) string { return c.ID }), err
	}))
	suitetest.WantSame(t, "staff", want, paged(t, func(p registry.Page) ([]string, error) {
		staff, err := f.ListStaff(ctx, "acme", p)
		return idsOf(staff, func(s registry.Staff) string { return s.ID }), err
	}))
}

// paged reads a list three entries at a time.
func paged(t *testing.T, list func(registry.Page) ([]string, error)) []string {
	t.Helper()
	var all []string
	page := registry.Page{Limit: 3}
	for range 10 {
		got, err := list(page)
		must(t, err)
		if len(got) > page.Limit {
			t.Fatalf("a page of %d has %d", page.Limit, len(got))
		}
		all = append(all, got...)
		if len(got) < page.Limit {
			return all
		}
		page.After = got[len(got)-1]
	}
	t.Fatalf("the list has no end: %v", all)
	return nil
}

func idsOf[T any](all []T, id func(T) string) []string {
	var ids []string
	for _, one := range all {
		ids = append(ids, id(one))
	}
	return ids
}

func listOf(t *testing.T, f registry.Facts) {
	ctx := t.Context()
	edit := func(code string, members, backups []string, policy roster.EmptyPolicy) registry.CodeEdit {
		e := registry.CodeEdit{Code: code, Backups: registry.To(backups), OnEmpty: registry.To(policy)}
		var list []roster.Member
		for _, staff := range members {
			list = append(list, roster.Member{Staff: staff})
		}
		e.Members = registry.To(list)
		return e
	}
	put(t, f, "acme",
		edit("member", []string{"x", "li.na"}, nil, ""), edit("backup", []string{"x"}, []string{"li.na"}, ""),
		edit("fallback", []string{"x"}, nil, roster.TenantFallback), edit("other", []string{"x"}, nil, roster.KeepLast))
	put(t, f, "globex", edit("theirs", []string{"li.na"}, nil, ""))
	for _, test := range []struct {
		fallback, want []string
	}{
		{nil, []string{"backup", "member"}},
		{[]string{"y", "li.na"}, []string{"backup", "fallback", "member"}},
	} {
		got, err := f.ListCodesOf(ctx, roster.Tenant{ID: "acme", Fallback: test.fallback}, "li.na", registry.Page{Limit: 10})
		must(t, err)
		ids := idsOf(got, func(c registry.Code) string { return c.ID })
		slices.Sort(ids)
		suitetest.WantSame(t, fmt.Sprintf("codes with the fallback %v", test.fallback), test.want, ids)
	}
}
