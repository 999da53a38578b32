package main

import (
	"bytes"
	"encoding/json"
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

// blockedStory is a member who reached his quota while WeCom blocked his tenant.
func blockedStory() explain.Explanation {
	now := time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC)
	evidence := explain.Evidence{Look: audit.Look{
		Ref: push.Ref{Tenant: "acme", Code: "code-1"},
		Facts: roster.Facts{
			Code: roster.Code{
				ID: "code-1", Tenant: "acme", ConfigID: "way-1", Family: roster.Native, Revision: 7,
				Members: []roster.Member{{Staff: "amy", DailyLimit: 5}, {Staff: "bob", DailyLimit: 5}}, Switches: roster.Switches{DailyLimit: true},
			},
			Tenant:   roster.Tenant{ID: "acme"},
			Staff:    map[string]roster.Staff{"amy": {ID: "amy"}, "bob": {ID: "bob"}},
			Counters: roster.Counters{Days: map[roster.Day]map[string]int{"20261130": {"amy": 5, "bob": 1}}},
		},
		Record: push.Record{Code: "code-1", Epoch: 31, Committed: push.Committed{
			Epoch: 31, Hash: "before", Members: []string{"amy", "bob"}, At: now.Add(-20 * time.Minute), Revision: 7,
		}},
	}, Budget: explain.Budget{BlockedUntil: now.Add(40 * time.Minute)}}
	return explain.Of(evidence, roster.LaneRules{}, now)
}

func TestAnExplanationOfOneMember(t *testing.T) {
	var out bytes.Buffer
	if err := printOne(&out, blockedStory(), "amy"); err != nil {
		t.Fatal(err)
	}
	want := `amy is off the list of acme/code-1: at_daily_limit, 5 of 5 additions on this code today.
but the list that was pushed last still has him: customers who scan the code may reach him. It was pushed 2026-11-30T03:40:00Z, 20m0s ago. In the way:
  blocked until 2026-11-30T04:40:00Z (in 40m0s): WeCom answered 45009 and refuses the tenant's calls until then
`
	want = strings.Replace(want, "\nbut", "\nBut", 1)
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	if err := printOne(&out, blockedStory(), "zoe"); err == nil || !strings.Contains(err.Error(), "zoe has nothing to do with code acme/code-1") {
		t.Errorf("a stranger: %v", err)
	}
}

func TestAnExplanationOfACode(t *testing.T) {
	var out bytes.Buffer
	if err := printExplanation(&out, blockedStory()); err != nil {
		t.Fatal(err)
	}
	want := `acme/code-1: native, fast lane, contact way way-1, revision 7
The list is NOT as the facts ask (stale): the list still has amy (at_daily_limit). In the way:
  blocked until 2026-11-30T04:40:00Z (in 40m0s): WeCom answered 45009 and refuses the tenant's calls until then
┌───────┬──────────────┬────────────────┬─────────────────────────────────────┬────────┐
│ STAFF │ BY THE FACTS │ BECAUSE        │                                     │ PUSHED │
├───────┼──────────────┼────────────────┼─────────────────────────────────────┼────────┤
│ amy   │ off          │ at_daily_limit │ 5 of 5 additions on this code today │ yes    │
│ bob   │ listed       │ eligible       │ 1 of 5 today                        │ yes    │
└───────┴──────────────┴────────────────┴─────────────────────────────────────┴────────┘
Last pushed 2026-11-30T03:40:00Z, 20m0s ago (push 31, revision 7): 2 members. Time alone changes the list 2026-11-30T16:00:00Z, in 12h0m0s.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestAnExplanationSaysWhatWeComHolds(t *testing.T) {
	tests := map[string]struct {
		vendor explain.Vendor
		want   []string
	}{
		"another list":   {explain.Vendor{Known: true, Way: spot.Way{Users: []string{"bob"}}}, []string{"AT WECOM", "WeCom was asked."}},
		"departments":    {explain.Vendor{Known: true, Way: spot.Way{Departments: []int64{3}}}, []string{"departments [3]"}},
		"no contact way": {explain.Vendor{}, []string{"WeCom does not know the contact way."}},
		"no answer":      {explain.Vendor{Problem: "no answer within 5s"}, []string{"WeCom could not be asked: no answer within 5s"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			x := blockedStory()
			x.Vendor = &tt.vendor
			x = explain.Of(x.Evidence, roster.LaneRules{}, x.At)
			var out bytes.Buffer
			if err := printExplanation(&out, x); err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, out.String())
				}
			}
		})
	}
}

func TestAnExplanationOfFactsThatCannotBe(t *testing.T) {
	x := explain.Of(explain.Evidence{Look: audit.Look{Ref: push.Ref{Tenant: "acme", Code: "c"}, Wrong: push.ErrUnknownTenant}}, roster.LaneRules{}, time.Now())
	var out bytes.Buffer
	if err := printExplanation(&out, x); err != nil || !strings.Contains(out.String(), "No list can be decided: unknown_tenant") {
		t.Errorf("%v\n%s", err, out.String())
	}
	out.Reset()
	if err := printOne(&out, x, "amy"); err != nil || !strings.Contains(out.String(), "No list can be decided: unknown_tenant") {
		t.Errorf("of one member: %v\n%s", err, out.String())
	}
}

func TestAnExplanationAsJSON(t *testing.T) {
	text, err := json.Marshal(explanationJSON(blockedStory(), "amy"))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"tenant": "acme", "code": "code-1", "at": "2026-11-30T04:00:00Z", "agrees": false, "difference": "stale", "detail": "the list still has amy (at_daily_limit)",
		"members": []any{"bob"}, "pushed": []any{"amy", "bob"}, "pushed_at": "2026-11-30T03:40:00Z", "epoch": 31., "next_change": "2026-11-30T16:00:00Z",
		"waits": []any{map[string]any{"cause": "blocked", "until": "2026-11-30T04:40:00Z", "detail": "WeCom answered 45009 and refuses the tenant's calls until then"}},
		"staff": []any{map[string]any{
			"staff": "amy", "listed": false, "reason": string(reason.AtDailyLimit), "detail": "5 of 5 additions on this code today", "pushed": true, "in_rotation": false,
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
