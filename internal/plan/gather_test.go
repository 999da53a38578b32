package plan_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// shelf holds the facts of one tenant.
type shelf struct {
	staff []roster.Staff
	codes []plan.CodeFacts
	most  int // of one page
	err   error
}

func (s *shelf) Tenant(context.Context, string) (roster.Tenant, error) {
	return roster.Tenant{}, plan.ErrUnknownTenant
}

func (s *shelf) TenantsAfter(context.Context, string, int) ([]roster.Tenant, error) { return nil, nil }

func (s *shelf) StaffAfter(_ context.Context, _, after string, limit int) ([]roster.Staff, error) {
	return pageOf(s, s.staff, limit, func(one roster.Staff) bool { return one.ID > after })
}

func (s *shelf) CodesAfter(_ context.Context, _, after string, limit int) ([]plan.CodeFacts, error) {
	return pageOf(s, s.codes, limit, func(one plan.CodeFacts) bool { return one.Code.ID > after })
}

func pageOf[T any](s *shelf, all []T, limit int, later func(T) bool) ([]T, error) {
	s.most = max(s.most, limit)
	var page []T
	for _, one := range all {
		if later(one) && len(page) < limit {
			page = append(page, one)
		}
	}
	return page, s.err
}

func TestGather(t *testing.T) {
	now := time.Date(2026, 12, 1, 20, 0, 0, 0, time.UTC) // the 2nd in Shanghai
	tenant := roster.Tenant{ID: "acme", DailyTotal: 9, Fallback: []string{"zoe", "gone"}}
	facts := &shelf{
		staff: []roster.Staff{
			{ID: "amy", Presence: roster.Online, Added: map[roster.Day]int{"20261202": 4, "20261201": 7}},
			{ID: "bob", Resigned: true},
			{ID: "zoe", RemovedOn: "20261202"},
		},
		codes: []plan.CodeFacts{
			{
				Code: roster.Code{
					ID: "a", ConfigID: "w", Family: roster.Sequenced, OnEmpty: roster.TenantFallback, Backups: []string{"bob"},
					Switches:  roster.Switches{OfflineCheck: true, DailyLimit: true},
					Members:   []roster.Member{{Staff: "amy", AddLimit: 8, DailyLimit: 5}, {Staff: "nobody"}, {Staff: "amy"}, {Staff: "zoe", DailyLimit: 2}},
					CreatedAt: now.AddDate(-1, 0, 0),
				},
				Counters: roster.Counters{
					Total: map[string]int{"amy": 40},
					Days:  map[roster.Day]map[string]int{"20261202": {"amy": 3}, "20261201": {"amy": 4, "zoe": 2}, "20261130": {"zoe": 1}},
				},
				LastPush: now.Add(-time.Hour),
			},
			{Code: roster.Code{ID: "b", ConfigID: "w", Deleted: true}},
			{Code: roster.Code{ID: "c"}}, // has no contact way
			{Code: roster.Code{ID: "d", ConfigID: "w", CreatedAt: now.Add(-time.Minute)}},
		},
	}
	rules := roster.LaneRules{FastFor: time.Hour, SlowInterval: 10 * time.Minute}
	got, err := plan.Gather(t.Context(), facts, tenant, rules, now)
	want := plan.Company{
		Tenant: "acme", DailyTotal: 9, Day: "20261202",
		People: []plan.Person{{ID: "amy", Presence: roster.Online, AddedToday: 4}, {ID: "bob", Barred: true}, {ID: "zoe", Removed: true}},
		Codes: []plan.Code{{
			ID: "a", Rotates: true, OfflineCheck: true, Interval: 10 * time.Minute, LastPush: now.Add(-time.Hour), PerDay: 3.5,
			Seats: []plan.Seat{{Person: 0, DailyLimit: 5, Added: 40, Today: 3}, {Person: 2, DailyLimit: 2}}, Reserves: [][]int32{{1}, {2}},
		}, {ID: "d", Fresh: true, Reserves: [][]int32{nil}}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(plan.Company{}, "Zone")); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestGatherReadsByPage(t *testing.T) {
	facts := &shelf{}
	for i := range 1203 {
		facts.staff = append(facts.staff, roster.Staff{ID: fmt.Sprintf("s%05d", i)})
		facts.codes = append(facts.codes, plan.CodeFacts{Code: roster.Code{ID: fmt.Sprintf("c%05d", i), ConfigID: "w"}})
	}
	company, err := plan.Gather(t.Context(), facts, roster.Tenant{ID: "acme"}, roster.LaneRules{}, noon)
	if err != nil || len(company.People) != 1203 || len(company.Codes) != 1203 || facts.most > 500 {
		t.Errorf("%d people, %d codes by pages of %d, %v", len(company.People), len(company.Codes), facts.most, err)
	}
	facts.err = errors.New("away")
	if _, err := plan.Gather(t.Context(), facts, roster.Tenant{ID: "acme"}, roster.LaneRules{}, noon); !errors.Is(err, facts.err) {
		t.Errorf("an error was lost: %v", err)
	}
}
