package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/explain"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/trail"
)

// lateStory is blockedStory an hour later: the list was replaced when the block
// was over.
func lateStory() explain.Explanation {
	x := blockedStory()
	begun := x.At.Add(-20 * time.Minute)
	offline := trail.Trigger{Reason: "quota_reached", Message: "7:12:0", PublishedAt: begun.Add(10 * time.Minute)}
	const traced = "4bf92f3577b34da6a3ce929d0e0e4736"
	x.Trail = []trail.Entry{
		{At: begun, Kind: trail.Pushed, Epoch: 31, Size: 2, Moves: []trail.Move{{Staff: "amy", Came: true, Why: reason.Eligible}, {Staff: "bob", Came: true, Why: reason.Eligible}}},
		{At: begun.Add(10 * time.Minute), Kind: trail.Full, Cause: reason.AtDailyLimit, Staff: "amy", Count: 5, Limit: 5},
		{At: begun.Add(11 * time.Minute), Kind: trail.Waits, Cause: reason.Blocked, Until: begun.Add(60 * time.Minute), Detail: "45009", Trigger: offline, Trace: traced},
		{At: begun.Add(12 * time.Minute), Kind: trail.Refused, Epoch: 32, Cause: reason.Transient, Unknown: true, Detail: "http 502", Trigger: offline},
		{At: begun.Add(15 * time.Minute), Kind: trail.Full, Cause: reason.AtDailyLimit, Staff: "amy", Count: 6, Limit: 5},
		{At: begun.Add(61 * time.Minute), Kind: trail.Pushed, Epoch: 33, Size: 1, Moves: []trail.Move{{Staff: "amy", Why: reason.AtDailyLimit}}, Trigger: offline, Trace: traced},
	}
	x.Record.Committed.Members, x.Record.Committed.Epoch = []string{"bob"}, 33
	return explain.Of(x.Evidence, roster.LaneRules{}, begun.Add(2*time.Hour))
}

func TestTheIncidentIsExplained(t *testing.T) {
	x := lateStory()
	var out bytes.Buffer
	if err := explainPast(&out, x, explainOrder{at: "2026-11-30 11:57", staff: "amy"}); err != nil {
		t.Fatal(err)
	}
	want := `amy was on the list of acme/code-1 at 2026-11-30T03:57:00Z; he came at 2026-11-30T03:40:00Z (push 31): eligible.
He left it at 2026-11-30T04:41:00Z (push 33), 44m0s later: at_daily_limit.
  by event "quota_reached" of 2026-11-30T03:50:00Z (message 7:12:0), trace 4bf92f3577b34da6a3ce929d0e0e4736
A push waited then: 2026-11-30T03:51:00Z waits: blocked until 2026-11-30T04:40:00Z (45009)
  by event "quota_reached" of 2026-11-30T03:50:00Z (message 7:12:0), trace 4bf92f3577b34da6a3ce929d0e0e4736
Pushes that did not replace that list:
  2026-11-30T03:52:00Z push 32 perhaps taken: transient (http 502)
    by event "quota_reached" of 2026-11-30T03:50:00Z (message 7:12:0)
His additions that reached or passed a ceiling while that list stood:
  2026-11-30T03:50:00Z addition of amy: 5 of 5 (at_daily_limit)
  2026-11-30T03:55:00Z addition of amy: 6 of 5 (at_daily_limit)
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestAListOfThePast(t *testing.T) {
	x := lateStory()
	for name, tt := range map[string]struct {
		order explainOrder
		want  []string
	}{
		"while it waited":        {explainOrder{at: "100m"}, []string{"2 members: amy, bob.", "It was pushed at 2026-11-30T03:40:00Z (push 31) and replaced at 2026-11-30T04:41:00Z (push 33).", "waits: blocked", "6 of 5"}},
		"when the wait was over": {explainOrder{at: "2026-11-30T04:40:30Z"}, []string{"A push had waited before, and perhaps still did: 2026-11-30T03:51:00Z waits: blocked until 2026-11-30T04:40:00Z"}},
		"after it was replaced":  {explainOrder{at: "2026-11-30T04:50:00Z"}, []string{"1 member: bob.", "still stands"}},
		"who was not on it":      {explainOrder{at: "2026-11-30T04:50:00Z", staff: "amy"}, []string{"amy was not on the list", "he left at 2026-11-30T04:41:00Z (push 33): at_daily_limit", "by event \"quota_reached\""}},
		"who still is":           {explainOrder{at: "2026-11-30T04:50:00Z", staff: "bob"}, []string{"bob was on the list", "He is still on it."}},
		"before the trail":       {explainOrder{at: "5h"}, []string{"the list is not known: the trail begins later."}},
		"of one, before it":      {explainOrder{at: "5h", staff: "amy"}, []string{"Whether amy was on the list", "is not known: the trail begins later."}},
		"a wall clock in Peking": {explainOrder{at: "2026-11-30 12:50:00"}, []string{"at 2026-11-30T04:50:00Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := explainPast(&out, x, tt.order); err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, out.String())
				}
			}
		})
	}
	for at, want := range map[string]string{"yesterday": "is no time; want one like", "2027-01-01T00:00:00Z": "is not in the past", "-5m": "is no time"} {
		if err := explainPast(&bytes.Buffer{}, x, explainOrder{at: at}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--at %s: %v", at, err)
		}
	}
}

func TestThePastAsJSON(t *testing.T) {
	var out bytes.Buffer
	if err := explainPast(&out, lateStory(), explainOrder{at: "100m", staff: "amy", output: outputJSON}); err != nil {
		t.Fatal(err)
	}
	var got shownPast
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if !got.Known || !got.Listed || len(got.Members) != 2 || got.Since.Epoch != 31 || got.Next.Epoch != 33 || got.Waiting.Cause != reason.Blocked || len(got.Full) != 2 {
		t.Errorf("%s", out.String())
	}
	if got.Next.Event == nil || got.Next.Event.Message != "7:12:0" || got.Next.Trace == "" || got.Since.Event != nil || len(got.Refused) != 1 {
		t.Errorf("the events: %s", out.String())
	}
}

// An explanation of now ends with what happened last.
func TestAnExplanationEndsWithTheTrail(t *testing.T) {
	var out bytes.Buffer
	if err := printExplanation(&out, lateStory()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"What happened last", "push 31, 2 members: +amy (eligible), +bob (eligible)", "push 33, 1 member: -amy (at_daily_limit)\n    by event \"quota_reached\""} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
