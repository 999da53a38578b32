package pushtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

func factsAsWritten(t *testing.T, b StoreBench) {
	want := everyField(b.instant())
	b.put(want)
	got, record := b.load(t, acme)
	if diff := cmp.Diff(want, got, equal); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(push.Record{Code: acme.Code}, record, equal); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

func factsAlone(t *testing.T, b StoreBench) {
	want := everyField(b.instant())
	b.put(want)
	got, err := b.Store.Facts(t.Context(), acme)
	if err != nil {
		t.Fatalf("Facts: %v", err)
	}
	if diff := cmp.Diff(want, got, equal); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

func factsFallback(t *testing.T, b StoreBench) {
	facts := everyField(b.instant())
	facts.Code.OnEmpty = roster.KeepLast
	b.put(facts)
	got, _ := b.load(t, acme)
	if _, ok := got.Staff["desk"]; ok {
		t.Error("fallback staff were read although the code keeps its last list")
	}
	if len(got.Staff) != len(facts.Staff)-1 {
		t.Errorf("%d staff were read, want members and backups: %d", len(got.Staff), len(facts.Staff)-1)
	}
}

func factsMissingStaff(t *testing.T, b StoreBench) {
	b.seed()
	b.PutCode(roster.Code{ID: acme.Code, Tenant: acme.Tenant, Members: []roster.Member{{Staff: "wang"}, {Staff: "nobody"}}})
	b.PutStaff("globex", roster.Staff{ID: "nobody"})
	got, _ := b.load(t, acme)
	want := map[string]roster.Staff{"wang": {ID: "wang"}}
	if diff := cmp.Diff(want, got.Staff, equal); diff != "" {
		t.Errorf("staff (-want +got):\n%s", diff)
	}
}

func factsNobody(t *testing.T, b StoreBench) {
	b.seed()
	b.PutCode(roster.Code{ID: acme.Code, Tenant: acme.Tenant})
	if got, _ := b.load(t, acme); len(got.Staff) != 0 || len(got.Code.Members) != 0 {
		t.Errorf("a code without members has members %v, staff %v", got.Code.Members, got.Staff)
	}
}

func factsManyMembers(t *testing.T, b StoreBench) {
	const n = 300
	b.seed()
	code := roster.Code{ID: acme.Code, Tenant: acme.Tenant}
	var staff []roster.Staff
	for i := range n {
		id := fmt.Sprintf("staff-%03d", i)
		code.Members = append(code.Members, roster.Member{Staff: id})
		staff = append(staff, roster.Staff{ID: id})
	}
	b.PutStaff(acme.Tenant, staff...)
	b.PutCode(code)
	if got, _ := b.load(t, acme); len(got.Staff) != n {
		t.Errorf("%d of %d staff were read", len(got.Staff), n)
	}
}

func factsAdditions(t *testing.T, b StoreBench) {
	b.seed()
	today := roster.DayOf(b.Now(), time.UTC)
	yesterday := roster.DayOf(b.Now().AddDate(0, 0, -1), time.UTC)
	for range 3 {
		b.CountAddition(acme, "li.na", today)
	}
	b.CountAddition(acme, "wang", today)
	b.CountAddition(acme, "wang", yesterday)
	got, _ := b.load(t, acme)
	want := roster.Counters{
		Total: map[string]int{"li.na": 3, "wang": 2},
		Days: map[roster.Day]map[string]int{
			today:     {"li.na": 3, "wang": 1},
			yesterday: {"wang": 1},
		},
		InRound: map[string]int{"li.na": 3, "wang": 2},
	}
	if diff := cmp.Diff(want, got.Counters, equal); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[roster.Day]int{today: 1, yesterday: 1}, got.Staff["wang"].Added); diff != "" {
		t.Errorf("company-wide additions (-want +got):\n%s", diff)
	}
}

func factsUnknownCode(t *testing.T, b StoreBench) {
	b.seed()
	b.wantLoadError(t, push.Ref{Tenant: acme.Tenant, Code: "other"}, push.ErrUnknownCode)
}

func factsUnknownTenant(t *testing.T, b StoreBench) {
	b.PutCode(roster.Code{ID: acme.Code, Tenant: acme.Tenant})
	b.wantLoadError(t, acme, push.ErrUnknownTenant)
}

func factsWrongTenant(t *testing.T, b StoreBench) {
	b.seed()
	b.PutTenant(roster.Tenant{ID: "globex"})
	b.wantLoadError(t, push.Ref{Tenant: "globex", Code: acme.Code}, push.ErrWrongTenant)
	b.wantLoadError(t, push.Ref{Tenant: "nobody", Code: acme.Code}, push.ErrWrongTenant)
}

func factsCancelled(t *testing.T, b StoreBench) {
	b.seed()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := b.Store.Load(ctx, acme); !errors.Is(err, context.Canceled) {
		t.Errorf("Load = %v, want context.Canceled", err)
	}
	if _, err := b.Store.Facts(ctx, acme); !errors.Is(err, context.Canceled) {
		t.Errorf("Facts = %v, want context.Canceled", err)
	}
}

func (b StoreBench) wantLoadError(t *testing.T, ref push.Ref, want error) {
	t.Helper()
	if _, _, err := b.Store.Load(t.Context(), ref); !errors.Is(err, want) {
		t.Errorf("Load(%v) = %v, want %v", ref, err, want)
	}
	if _, err := b.Store.Facts(t.Context(), ref); !errors.Is(err, want) {
		t.Errorf("Facts(%v) = %v, want %v", ref, err, want)
	}
}

func (b StoreBench) put(facts roster.Facts) {
	b.PutTenant(facts.Tenant)
	for _, staff := range facts.Staff {
		b.PutStaff(facts.Tenant.ID, staff)
	}
	b.PutCode(facts.Code)
}

// everyField sets every field of tenant, code and staff, with the awkward
// names that WeCom allows. Counters are counted, not put.
func everyField(now time.Time) roster.Facts {
	today := roster.DayOf(now, time.UTC)
	staff := []roster.Staff{
		{
			ID: "zhang.san@corp", Presence: roster.OfflineNow, RemovedOn: today,
			QuarantinedUntil: now.Add(time.Hour), Added: map[roster.Day]int{today: 7},
			Schedule: &roster.Schedule{
				TimeZone: "Asia/Urumqi",
				Weekly:   [7][]roster.Shift{1: {{From: 540, To: 720}, {From: 780, To: 1080}}, 6: {{From: 1320, To: 1800}}},
				Special:  map[roster.Day][]roster.Shift{"20261001": {}, today: {{From: 600, To: 660}}},
			},
		},
		{ID: "Li_Si-2"},
		{ID: "left", Resigned: true, Presence: roster.Online},
		{ID: "stand.in"},
		{ID: "desk"},
	}
	facts := roster.Facts{
		Tenant: roster.Tenant{
			ID: acme.Tenant, TimeZone: "Asia/Shanghai", DailyTotal: 60, Fallback: []string{"desk"},
			Tier: "premium", Whitelisted: true, Lane: roster.LaneFast, MaxRemovalShare: 0.25,
		},
		Code: roster.Code{
			ID: acme.Code, Tenant: acme.Tenant, ConfigID: "cfg-1", Family: roster.Quota,
			Members: []roster.Member{
				{Staff: "zhang.san@corp", AddLimit: 500, DailyLimit: 20, RoundLimit: 5},
				{Staff: "Li_Si-2"},
				{Staff: "left"},
			},
			Backups:  []string{"stand.in", "Li_Si-2"},
			Switches: roster.Switches{OfflineCheck: true, AddLimit: true, DailyLimit: true, RoundLimit: true},
			OnEmpty:  roster.TenantFallback, Revision: 12,
			CreatedAt: now.Add(-48 * time.Hour), UpdatedAt: now.Add(-time.Minute),
			Lane: roster.LaneSlow, Deleted: true, Remark: "展会", State: "s-1", SkipVerify: true,
		},
		Staff: map[string]roster.Staff{},
	}
	for _, one := range staff {
		facts.Staff[one.ID] = one
	}
	return facts
}
