package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// aDay is a company of 100 people with ten places on each of its codes, and the
// order for a day of it.
func aDay(codes int, o planOrder) (plan.Input, planOrder, error) {
	now := time.Date(2026, 11, 30, 15, 0, 0, 0, time.UTC)
	in := plan.Input{
		Company: plan.Company{Tenant: "acme", Zone: time.UTC, Day: "20261130", DailyTotal: 25},
		Budget: plan.Budget{
			Tenant: []plan.Window{{Calls: 10_000, Per: time.Minute}, {Calls: 150_000, Per: time.Hour}}, TenantBurst: 7500,
			Address: []plan.Window{{Calls: 20_000, Per: time.Minute}, {Calls: 600_000, Per: time.Hour}}, AddressBurst: 9800,
			Instances: 3, Delay: 2 * time.Second, RemovalShare: 0.03,
		},
		Releasing:    plan.Releasing{Ingresses: 2, Burst: 500, Jobs: 4, Poll: 500 * time.Millisecond, Saved: 2 * time.Second},
		Refreshing:   plan.Refreshing{InFlight: 16, PushTime: 200 * time.Millisecond, ParkAfter: 2 * time.Minute},
		SlowInterval: 10 * time.Minute,
	}
	for i := range 100 {
		in.Company.People = append(in.Company.People, plan.Person{ID: fmt.Sprintf("s%02d", i), Presence: roster.Online})
	}
	for i := range codes {
		code := plan.Code{ID: fmt.Sprintf("c%05d", i), OfflineCheck: true}
		for j := range 10 {
			code.Seats = append(code.Seats, plan.Seat{Person: int32((i + j*7) % 100)})
		}
		in.Company.Codes = append(in.Company.Codes, code)
	}
	if o.from == "" {
		o.from = "tomorrow"
	}
	if o.length == 0 {
		o.length = 24 * time.Hour
	}
	var err error
	in.Campaign, err = o.campaign(now, time.UTC)
	return in, o, err
}

func TestPlanOnOneScreen(t *testing.T) {
	in, o, err := aDay(6000, planOrder{additions: "2000/day", peaks: []string{"30%@20:00"}, changes: []string{"-s00:off@18:00", "on@18:30"}, whatIf: "additions=x3,slow=50%"})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := planOne(in, o)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := answer.print(&out); err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "acme, 24h0m from 2026-12-01 00:00 UTC: 6000 codes, 100 people on 60000 places",
		"WeCom's quota leaves 39.5 calls a second after a burst of 7500", "additions=x3,slow=50%", "2000", "6000",
		"presence", "the company's ceiling", "drains in", "at 18:", "│", "What costs most:\n  s", "(he is on 600)", "The quota is short for", "; lists are late by up to")
	if lines := strings.Count(out.String(), "\n"); lines > 30 {
		t.Errorf("%d lines are more than a screen:\n%s", lines, out.String())
	}
	for line := range strings.SplitSeq(out.String(), "\n") {
		if columns(line) > 150 {
			t.Errorf("%d columns: %s", columns(line), line)
		}
	}
	t.Log("\n" + out.String())
}

func TestPlanOfACalmDaySaysSo(t *testing.T) {
	for want, o := range map[string]planOrder{
		"Nothing to do: the quota is enough": {additions: "300/day"},
		"Nothing to do: no list changes":     {additions: "0/day"},
	} {
		in, o, err := aDay(1000, o)
		if err != nil {
			t.Fatal(err)
		}
		in.Company.DailyTotal = 4
		answer, err := planOne(in, o)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := answer.print(&out); err != nil {
			t.Fatal(err)
		}
		wantLines(t, out.String(), want)
	}
}

func TestPlanNamesWhatHelpsMost(t *testing.T) {
	late := func(p95 time.Duration, pushes int) plan.Outcome {
		return plan.Outcome{Pushes: pushes, Saturation: plan.Saturation{Whole: time.Hour}, Freshness: plan.Freshness{P95: p95, Max: 2 * p95}}
	}
	p := planned{present: late(8*time.Minute, 1000), remedies: []plan.Remedy{{What: "slow=50%", Outcome: late(time.Minute, 700)}}}
	want := "The quota is short for 1h0m; lists are late by up to 16m0s.\nWhat helps most: slow=50%. Then 95 % of lists are late by 1m0s at most, not 8m0s; 700 pushes, not 1000."
	if got := p.advice(); got != want {
		t.Errorf("%q; want %q", got, want)
	}
	p.present.Endless = true
	wantLines(t, p.advice(), "More changes than the quota ever lets through")
}

func TestPlanAsJSON(t *testing.T) {
	in, o, err := aDay(1000, planOrder{changes: []string{"s01,s02:off@18:00"}, whatIf: "quota=x2"})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := planOne(in, o)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(answer.json())
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, string(body), `"tenant":"acme"`, `"what_if":"quota=x2"`, `"changes_by_cause":{"presence":`, `"remedies":[]`, `"hours":[{"pushes":0,"waiting":0}`, `"staff":"s01"`)
}

func TestPlanOfAllTenants(t *testing.T) {
	in, o, err := aDay(1000, planOrder{presence: "4/day"})
	if err != nil {
		t.Fatal(err)
	}
	world, err := plan.ParseWhatIf("codes=x2")
	if err != nil {
		t.Fatal(err)
	}
	all := plannedAll{budget: in.Budget, start: in.Campaign.Start, whatIf: "codes=x2", other: &plan.Sum{}}
	for range 12 {
		if err := all.add(in, world); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := all.print(&out, world); err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "From 2026-12-01 00:00 UTC, all tenants", "12000", "24000", `"rollcall plan --tenant acme" has more`,
		"the quotas are enough", "Not all tenants were read")
	if all.present.Pushes == 0 || o.presence == "" {
		t.Error("nothing was added up")
	}
}

func TestPlanAnswersBadInput(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"--tenant", "a", "--additions", "lots"}, `--additions: "lots" is no rate; want one like 20000/day`},
		{[]string{"--tenant", "a", "--peak", "30%"}, "want one like 30%@20:00"},
		{[]string{"--tenant", "a", "--change", "away@18:00"}, "neither on nor off"},
		{[]string{"--tenant", "a", "--presence", "4"}, "--presence: \"4\" is no rate"},
		{[]string{"--what-if", "staff=x2"}, "want additions, codes, quota, ceilings or slow"},
		{[]string{"--what-if", "additions=3"}, "want x0.01 to x100"},
		{[]string{"--from", "yesterday"}, "want tomorrow, now, or one like 2026-12-24"},
		{[]string{"--from", "2001-01-01"}, "is no day to come"},
		{[]string{"--additions", "5/day"}, "name it with --tenant"},
		{[]string{"--ingresses", "0"}, "are 1 or more"},
		{[]string{"-o", "yaml"}, `unknown output "yaml"`},
		{[]string{"acme"}, "unknown command"},
	} {
		var out, complaint strings.Builder
		if code := run(t.Context(), append([]string{"plan"}, tc.args...), &out, &complaint); code == exitOK {
			t.Errorf("%v was taken", tc.args)
		}
		if !strings.Contains(complaint.String(), tc.want) {
			t.Errorf("%v: %q; want %q in it", tc.args, complaint.String(), tc.want)
		}
	}
}
