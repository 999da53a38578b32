package quota_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

func TestCeilings(t *testing.T) {
	type reached = []quota.Ceiling
	all := roster.Switches{AddLimit: true, DailyLimit: true, RoundLimit: true}
	member := roster.Member{Staff: "li.na", AddLimit: 10, DailyLimit: 3, RoundLimit: 1}
	tests := map[string]struct {
		company  int
		switches roster.Switches
		members  []roster.Member
		counts   quota.Counts
		want     reached
	}{
		"none is reached": {
			5, all, []roster.Member{member}, quota.Counts{Total: 9, OnDay: 2, Company: 4}, nil,
		},
		"the member's on the code": {
			5, all,
			[]roster.Member{member},
			quota.Counts{Total: 10, OnDay: 2, Company: 4},
			reached{{Kind: reason.AtAddLimit, Count: 10, Limit: 10}},
		},
		"the member's of the day": {
			5, all,
			[]roster.Member{member},
			quota.Counts{Total: 9, OnDay: 3, Company: 4},
			reached{{Kind: reason.AtDailyLimit, Count: 3, Limit: 3}},
		},
		"the company's": {
			5, all,
			[]roster.Member{member},
			quota.Counts{Total: 9, OnDay: 2, Company: 5},
			reached{{Kind: reason.AtCompanyLimit, Count: 5, Limit: 5}},
		},
		"all, the company's first": {
			5, all,
			[]roster.Member{member},
			quota.Counts{Total: 12, OnDay: 4, Company: 8},
			reached{
				{Kind: reason.AtCompanyLimit, Count: 8, Limit: 5},
				{Kind: reason.AtDailyLimit, Count: 4, Limit: 3},
				{Kind: reason.AtAddLimit, Count: 12, Limit: 10},
			},
		},
		"switched off on the code": {
			0, roster.Switches{}, []roster.Member{member}, quota.Counts{Total: 99, OnDay: 99, Company: 99}, nil,
		},
		"one switch does not stand for another": {
			0, roster.Switches{DailyLimit: true}, []roster.Member{member}, quota.Counts{Total: 99, OnDay: 2}, nil,
		},
		"a limit of 0 is none": {
			0, all, []roster.Member{{Staff: "li.na"}}, quota.Counts{Total: 99, OnDay: 99, Company: 99}, nil,
		},
		"another member's": {
			0, all, []roster.Member{{Staff: "wang", AddLimit: 1, DailyLimit: 1}}, quota.Counts{Total: 9, OnDay: 9}, nil,
		},
		"of two places the first": {
			0, all, []roster.Member{{Staff: "li.na", AddLimit: 9}, {Staff: "li.na", AddLimit: 1}}, quota.Counts{Total: 5}, nil,
		},
		"of a code that is gone the company's is left": {
			5,
			roster.Switches{},
			nil,
			quota.Counts{Total: 99, OnDay: 99, Company: 6},
			reached{{Kind: reason.AtCompanyLimit, Count: 6, Limit: 5}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			code := roster.Code{Members: test.members, Switches: test.switches}
			got := quota.Ceilings(roster.Tenant{DailyTotal: test.company}, code, "li.na", test.counts)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("ceilings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCeiling(t *testing.T) {
	company := quota.Ceiling{Kind: reason.AtCompanyLimit, Count: 7, Limit: 5}
	daily := quota.Ceiling{Kind: reason.AtDailyLimit, Count: 3, Limit: 3}
	if company.Over() != 2 || daily.Over() != 0 {
		t.Errorf("over by %d and %d, want 2 and 0", company.Over(), daily.Over())
	}
	if !company.Everywhere() || daily.Everywhere() {
		t.Errorf("everywhere: %v and %v, want the company's alone", company.Everywhere(), daily.Everywhere())
	}
}
