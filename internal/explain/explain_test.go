package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/backstop/spot"
	"github.com/rollcall-dev/rollcall/internal/explain"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// now is noon of the 30th in Shanghai.
var now = time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC)

const today, tomorrow = roster.Day("20261130"), roster.Day("20261201")

// quotaCode has one member for each rule that keeps somebody off a list, and one
// for whom none does.
func quotaCode() explain.Evidence {
	night := &roster.Schedule{Weekly: [7][]roster.Shift{1: {{From: 22 * 60, To: 23 * 60}}}}
	facts := roster.Facts{
		Code: roster.Code{
			ID: "c1", Tenant: "acme", ConfigID: "way", Family: roster.Quota, Revision: 7,
			Members: []roster.Member{
				{Staff: "well", AddLimit: 100, DailyLimit: 5, RoundLimit: 9},
				{Staff: "offline"},
				{Staff: "off-duty"},
				{Staff: "ever", AddLimit: 10},
				{Staff: "today", DailyLimit: 5},
				{Staff: "company"},
				{Staff: "gone"},
				{Staff: "refused"},
				{Staff: "removed"},
				{Staff: "nobody"},
				{Staff: "round", RoundLimit: 2},
			},
			Backups:  []string{"spare"},
			Switches: roster.Switches{OfflineCheck: true, AddLimit: true, DailyLimit: true, RoundLimit: true},
		},
		Tenant: roster.Tenant{ID: "acme", DailyTotal: 30},
		Staff: map[string]roster.Staff{
			"well": {ID: "well", Added: map[roster.Day]int{today: 3}}, "offline": {ID: "offline", Presence: roster.OfflineNow}, "off-duty": {ID: "off-duty", Schedule: night},
			"ever": {ID: "ever"}, "today": {ID: "today"}, "company": {ID: "company", Added: map[roster.Day]int{today: 31}},
			"gone": {ID: "gone", Resigned: true}, "refused": {ID: "refused", QuarantinedUntil: now.Add(time.Hour)},
			"removed": {ID: "removed", RemovedOn: today}, "round": {ID: "round"}, "spare": {ID: "spare"},
		},
		Counters: roster.Counters{
			Total: map[string]int{"well": 41, "ever": 12}, Days: map[roster.Day]map[string]int{today: {"well": 2, "today": 5}},
			Round: 4, InRound: map[string]int{"well": 1, "round": 2},
		},
	}
	return explain.Evidence{Look: audit.Look{
		Ref: push.Ref{Tenant: "acme", Code: "c1"}, Facts: facts, Record: push.Record{Code: "c1", Epoch: 3, Committed: push.Committed{
			Epoch: 3, Members: []string{"stranger", "today", "well"}, At: now.Add(-time.Minute), Revision: 7, Hash: "old",
		}},
		Set: audit.Set{Version: 1, Round: 4, Staff: []string{"well"}},
	}}
}

// Every rule names the fact that it rests on.
func TestEachLineNamesItsFact(t *testing.T) {
	x := explain.Of(quotaCode(), roster.LaneRules{}, now)
	want := []explain.Line{
		{Staff: "well", Listed: true, Why: reason.Eligible, Detail: "41 of 100 ever, 2 of 5 today, 1 of 9 this round, 3 of 30 today over all codes", Pushed: true, Seated: true},
		{Staff: "offline", Why: reason.Offline, Detail: "his online flag says offline"},
		{Staff: "off-duty", Why: reason.OffDuty, Detail: "he has no shift now, by the clock of Asia/Shanghai"},
		{Staff: "ever", Why: reason.AtAddLimit, Detail: "12 of 10 additions on this code"},
		{Staff: "today", Why: reason.AtDailyLimit, Detail: "5 of 5 additions on this code today", Pushed: true},
		{Staff: "company", Why: reason.AtCompanyLimit, Detail: "31 of 30 additions today, over all codes"},
		{Staff: "gone", Why: reason.Resigned},
		{Staff: "refused", Why: reason.Quarantined, Detail: "WeCom refuses him; he is tried again at 2026-11-30 13:00:00"},
		{Staff: "removed", Why: reason.RemovedToday, Detail: "he reached a ceiling and is off every list until midnight, Asia/Shanghai"},
		{Staff: "nobody", Why: reason.StaffMissing, Detail: "the code names him, and no such staff member is known"},
		{Staff: "round", Why: reason.AtRoundLimit, Detail: "2 of 2 additions in round 4"},
		{Staff: "spare", Why: reason.BackupNotNeeded},
		{Staff: "stranger", Detail: "the code does not name him", Pushed: true},
	}
	if diff := cmp.Diff(want, x.Staff); diff != "" {
		t.Error(diff)
	}
	if _, known := x.Of("who"); known {
		t.Error("somebody who has nothing to do with the code has a line")
	}
}

// What is in the way is named with its end, the longest first.
func TestWaits(t *testing.T) {
	in := now.Add
	tests := map[string]struct {
		change func(*explain.Evidence)
		rules  roster.LaneRules
		want   []reason.Reason
		says   string
	}{
		"nothing": {change: func(*explain.Evidence) {}},
		"the tenant is blocked, and the code is dirty for it": {
			change: func(e *explain.Evidence) {
				e.Budget.BlockedUntil = in(time.Hour)
				e.Dirty = &explain.Dirty{Reasons: []reason.Reason{reason.Blocked}, FirstSeen: in(-time.Minute), Due: in(2 * time.Hour)}
			},
			want: []reason.Reason{reason.Dirty, reason.Blocked}, says: "45009",
		},
		"what is over is not in the way": {change: func(e *explain.Evidence) {
			e.Budget = explain.Budget{BlockedUntil: in(-time.Second), Slot: in(-time.Second)}
			e.Record.Failure.NotBefore = in(-time.Second)
		}},
		"what nobody knows the end of comes first": {change: func(e *explain.Evidence) {
			e.Facts.Code.ConfigID, e.Budget.Slot = "", in(time.Hour)
		}, want: []reason.Reason{reason.Wayless, reason.Throttled}},
		"a slot": {change: func(e *explain.Evidence) { e.Budget.Slot = in(time.Second) }, want: []reason.Reason{reason.Throttled}, says: "booked"},
		"a backoff": {change: func(e *explain.Evidence) {
			e.Record.Failure = push.Failure{Streak: 4, Class: reason.Transient, Message: "502", NotBefore: in(time.Second)}
		}, want: []reason.Reason{reason.Backoff}, says: "4 failures in a row, the last one transient: 502"},
		"an open push": {change: func(e *explain.Evidence) {
			e.Record.Intents = []push.Intent{{Epoch: 4, Owner: "r-2", Deadline: in(time.Second)}}
		}, want: []reason.Reason{reason.Unsettled}, says: "r-2 announced push 4"},
		"credentials": {change: func(e *explain.Evidence) {
			e.Facts.Tenant.Suspension = roster.Suspension{Since: in(-time.Hour), NextProbe: in(time.Minute), Detail: "40001"}
		}, want: []reason.Reason{reason.Suspended}, says: "40001"},
		"the slow lane": {
			change: func(e *explain.Evidence) { e.Facts.Code.Lane = roster.LaneSlow }, rules: roster.LaneRules{SlowInterval: 10 * time.Minute},
			want: []reason.Reason{reason.SlowLane}, says: "one push in 10m0s",
		},
		"another system writes": {change: func(e *explain.Evidence) { e.Facts.Code.Mode = roster.Shadow }, want: []reason.Reason{reason.Shadowed}, says: "another system"},
		"no contact way":        {change: func(e *explain.Evidence) { e.Facts.Code.ConfigID = "" }, want: []reason.Reason{reason.Wayless}, says: "no contact way"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := quotaCode()
			tt.change(&e)
			x := explain.Of(e, tt.rules, now)
			var got []reason.Reason
			var details []string
			for _, w := range x.Waits {
				got = append(got, w.Cause)
				details = append(details, w.Detail)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if all := strings.Join(details, "\n"); !strings.Contains(all, tt.says) {
				t.Errorf("no %q in %q", tt.says, all)
			}
		})
	}
}

// A stopgap says what would keep him off.
func TestAStopgapSaysWhatItIsDespite(t *testing.T) {
	e := quotaCode()
	e.Facts.Code.Members = []roster.Member{{Staff: "today", DailyLimit: 5}}
	e.Facts.Code.Backups = nil
	e.Record.Committed.Members = []string{"today"}
	x := explain.Of(e, roster.LaneRules{}, now)
	want := []explain.Line{{
		Staff: "today", Listed: true, Why: reason.KeptLast, Despite: reason.AtDailyLimit, Detail: "5 of 5 additions on this code today", Pushed: true,
	}, {Staff: "well", Detail: "the code does not name him", Seated: true}}
	if diff := cmp.Diff(want, x.Staff); diff != "" {
		t.Error(diff)
	}
}

func TestWhatWeComHolds(t *testing.T) {
	e := quotaCode()
	e.Vendor = &explain.Vendor{Known: true, Way: spot.Way{Users: []string{"intruder", "well"}}}
	x := explain.Of(e, roster.LaneRules{}, now)
	held := map[string]bool{}
	for _, l := range x.Staff {
		if l.Held {
			held[l.Staff] = l.Pushed
		}
	}
	if diff := cmp.Diff(map[string]bool{"intruder": false, "well": true}, held); diff != "" {
		t.Error(diff)
	}
}

// Facts that cannot be decided from are told as such, with what is in the way all
// the same.
func TestHopelessFacts(t *testing.T) {
	e := explain.Evidence{Look: audit.Look{Ref: push.Ref{Tenant: "acme", Code: "c1"}, Wrong: push.ErrUnknownTenant}}
	e.Dirty = &explain.Dirty{Reasons: []reason.Reason{reason.UnknownTenant, reason.Stale}, Detail: "no tenant acme", FirstSeen: now}
	x := explain.Of(e, roster.LaneRules{}, now)
	if x.Finding.Kind != reason.UnknownTenant || len(x.Staff) != 0 || len(x.Waits) != 1 {
		t.Fatalf("%+v", x)
	}
	if want := "dirty since 2026-11-30T04:00:00Z: unknown_tenant, stale (no tenant acme)"; x.Waits[0].Detail != want {
		t.Errorf("%q", x.Waits[0].Detail)
	}
}
