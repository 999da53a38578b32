package board_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

func refresher(name string, w board.Work) board.Report {
	return board.Report{Instance: name, Role: board.Refresher, Version: "1.4.0", At: noon, Work: &w}
}

func TestReportsAreAddedUp(t *testing.T) {
	one := board.Work{
		Runnable: 3, InFlight: 2, Workers: 8, Limit: 100, Load: 0.5, Held: map[reason.Reason]int{reason.Throttled: 4},
		Top: []board.TenantWork{
			{Tenant: "acme", Runnable: 3, Held: map[reason.Reason]int{reason.Throttled: 1}},
			{Tenant: "globex", Held: map[reason.Reason]int{reason.Throttled: 3}},
		},
		LastFive: board.Activity{Promised: freshness(time.Second), Busy: 1, Accounted: 5},
		LastHour: board.Activity{Promised: freshness(time.Second, time.Second, time.Minute), Errors: map[reason.Reason]int{reason.Transient: 2}},
	}
	two := board.Work{
		Runnable: 1, Workers: 8, Limit: 100, Load: 0.1, Held: map[reason.Reason]int{reason.Throttled: 1, reason.Backoff: 1},
		Top:      []board.TenantWork{{Tenant: "globex", Runnable: 1, Held: map[reason.Reason]int{reason.Throttled: 1, reason.Backoff: 1}}},
		LastHour: board.Activity{Promised: freshness(time.Second), Errors: map[reason.Reason]int{reason.Transient: 1}},
	}
	got := board.Merge([]board.Report{refresher("b", two), refresher("a", one)}, noon).Work
	want := board.Totals{
		Refreshers: 2, Runnable: 4, InFlight: 2, Workers: 16, Limit: 200, Load: 0.3, HeldSum: 6,
		Held: map[reason.Reason]int{reason.Throttled: 5, reason.Backoff: 1},
		Top: []board.TenantWork{
			{Tenant: "globex", Runnable: 1, Held: map[reason.Reason]int{reason.Throttled: 4, reason.Backoff: 1}},
			{Tenant: "acme", Runnable: 3, Held: map[reason.Reason]int{reason.Throttled: 1}},
		},
		LastFive: board.Activity{Promised: freshness(time.Second), Busy: 1, Accounted: 5, Refusals: map[reason.Reason]int{}, Errors: map[reason.Reason]int{}},
		LastHour: board.Activity{
			Promised: freshness(time.Second, time.Second, time.Minute, time.Second), Refusals: map[reason.Reason]int{},
			Errors: map[reason.Reason]int{reason.Transient: 3},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheObjective(t *testing.T) {
	ages := make([]time.Duration, 200)
	ages[0] = time.Minute
	w := board.Work{LastFive: board.Activity{Promised: freshness(ages...)}, LastHour: board.Activity{Promised: freshness(ages[:10]...)}}
	got := board.Merge([]board.Report{refresher("a", w)}, noon).Freshness
	if five := got.LastFive; five.Late != 1 || five.Count != 200 || five.Share != 0.995 || !near(five.BudgetLeft, 0.5) {
		t.Errorf("half of what may be late was: %+v", five)
	}
	if hour := got.LastHour; !near(hour.BudgetLeft, -9) || !near(hour.Burn(), 10) {
		t.Errorf("ten times what may be late was: %+v", hour)
	}
	none := board.Merge(nil, noon).Freshness.LastHour
	if none.Share != 1 || none.BudgetLeft != 1 || none.Count != 0 {
		t.Errorf("nothing was late: %+v", none)
	}
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

func TestASilentProcessIsListedAndNotCounted(t *testing.T) {
	silent := refresher("a", board.Work{Runnable: 5})
	silent.At, silent.Leads = noon.Add(-board.SilentAfter-time.Millisecond), true
	heard := refresher("b", board.Work{Runnable: 1})
	heard.At = noon.Add(-board.SilentAfter)
	keeper := board.Report{Instance: "a", Role: board.Keeper, At: noon, Leads: true}
	got := board.Merge([]board.Report{keeper, heard, silent}, noon)
	if got.Work.Runnable != 1 || got.Work.Refreshers != 1 {
		t.Errorf("%+v", got.Work)
	}
	var seen []string
	for _, i := range got.Instances {
		text := string(i.Role) + " " + i.Instance
		if i.Silent {
			text += " silent"
		}
		if i.Leads {
			text += " leads"
		}
		seen = append(seen, text)
	}
	if diff := cmp.Diff([]string{"refresher a silent", "refresher b", "keeper a leads"}, seen); diff != "" {
		t.Error(diff)
	}
}
