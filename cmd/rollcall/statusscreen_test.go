package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func ofCause(cause reason.Reason, n int) map[reason.Reason]int {
	return map[reason.Reason]int{cause: n}
}

// busyView is an installation in the middle of something.
func busyView() board.View {
	v := board.View{
		At:     noon,
		Unread: []board.Unread{{Part: board.PartBroker, Cause: "ROLLCALL_PULSAR_ADMIN_URL: a setting is missing", Unset: true}},
		Instances: []board.Instance{
			{Instance: "refresher-7c9", Role: board.Refresher, Version: "1.4.0 (commit abc)", Started: noon.Add(-26 * time.Hour), Heard: noon.Add(-time.Second), Load: 0.25, Workers: 64},
			{Instance: "ingress-1", Role: board.Ingress, Version: "1.4.0 (commit abc)", Started: noon.Add(-time.Hour), Heard: noon.Add(-2 * time.Second), Missing: []board.Missing{{Name: "redis"}}},
			{Instance: "keeper-1", Role: board.Keeper, Version: "1.4.0 (commit abc)", Started: noon.Add(-time.Minute), Heard: noon.Add(-time.Minute), Silent: true},
			{Instance: "keeper-2", Role: board.Keeper, Version: "1.4.0 (commit abc)", Started: noon.Add(-time.Minute), Heard: noon, Leads: true},
		},
		Freshness: &board.Objectives{
			LastFive:  board.Kept{Quantiles: board.Quantiles{Count: 10}, Share: 0.9, BudgetLeft: -9},
			LastHour:  board.Kept{Quantiles: board.Quantiles{Count: 12345, P50: 0.21, P95: 1.9, P99: 4}, Share: 0.995, BudgetLeft: 0.5},
			Throttled: board.Quantiles{Count: 7, P50: 31, P95: 75, P99: 3700},
		},
		Work: &board.Totals{
			Runnable: 12, InFlight: 16, Workers: 64, Load: 0.25, HeldSum: 1803, Limit: 8500,
			Held:     map[reason.Reason]int{reason.Blocked: 1800, reason.Backoff: 3},
			Top:      []board.TenantWork{{Tenant: "storm", Held: ofCause(reason.Blocked, 1800)}, {Tenant: "acme", Runnable: 12}, {Tenant: "idle"}},
			LastFive: board.Activity{Calls: 900, Errors: ofCause(reason.Transient, 2), Refusals: ofCause(reason.Throttled, 40)},
		},
		Dirty:  &board.DirtySet{Codes: 5, Reasons: []board.DirtyReason{{Reason: reason.Overflow, Codes: 5, Oldest: noon.Add(-90 * time.Second)}}},
		Budget: &board.Budget{MinuteLimit: 10000, HourLimit: 150000, Hottest: []board.TenantUse{{Tenant: "storm", Minute: 9870, Hour: 20000, Refused: 1200, BlockedUntil: noon.Add(time.Minute)}, {Tenant: "acme", Minute: 3, Hour: 60}}},
		FanOuts: &board.FanOuts{Running: 2, Shown: []board.FanOut{
			{Tenant: "acme", Staff: "amy", Why: "staff_changed", Done: 500, Total: 2000, Left: 61, LeftKnown: true}, {Tenant: "acme", Why: "tenant_changed"},
		}},
	}
	v.Incidents = board.Incidents(v)
	return v
}

func TestTheScreen(t *testing.T) {
	want := `rollcall   2026-11-30 12:00:00 UTC   1 refresher, 1 ingress, 1 keeper, all of version 1.4.0

PAGE   RollcallTenantBlocked · blocked
       WeCom has blocked storm (45009); 1800 codes held, until 12:01:00
TICKET RollcallInstanceDown · for 1m00s
       not heard any more: keeper keeper-1

FRESHNESS     pushes      p50      p95      p99   within 5s    budget left
  5 minutes       10     0.0s     0.0s     0.0s   90 %         none: 10.0 times used
  1 hour      12 345     0.2s     1.9s     4.0s   99.5 %       50 %
  throttled        7      31s    1m15s    1h01m   waited for budget, 1 hour
WORK       12 in line, 16 in flight of 64 workers, load 25 %
  held     1 803 of 8 500: blocked 1 800, backoff 3
  most     storm 1 800, acme 12
  WeCom    900 calls in 5 minutes, errors transient 2; the budget refused: throttled 40
DIRTY      5, by reason and oldest: overflow 5 (1m30s)
BROKER     not asked: ROLLCALL_PULSAR_ADMIN_URL: a setting is missing
BUDGET     a tenant's calls, of 10 000 a minute and 150 000 an hour
  storm                       9 870   99 %    20 000   13 %   1 200 refused   BLOCKED until 12:01:00
  acme                            3 <0.1 %        60 <0.1 %
TENANT     storm
  1 day    ······················▄█                                     30 calls, 5 refused
  1 hour   ·························································▄·█ 30 calls, 5 refused
FAN-OUTS   2 under way
  acme/amy                 staff_changed      500 of 2 000, 1m01s left
  acme                     tenant_changed     0 of 0, time left not known yet
INSTANCES
  keeper    keeper-1      up 1m00s   SILENT for 1m00s
  ingress   ingress-1     up 1h00m   NO redis
  refresher refresher-7c9 up 1d02h   load 25 %
  keeper    keeper-2      up 1m00s   at work
`
	calls := &tenantCalls{Tenant: "storm", Minutes: []board.Minute{{At: noon.Add(-2 * time.Minute), Granted: 10, Refused: 5}, {At: noon, Granted: 20}}}
	if diff := cmp.Diff(want, statusScreen(shownStatus{busyView(), calls})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestServersAwayAreSaidWhereTheirFiguresWouldBe(t *testing.T) {
	v := board.View{At: noon, Unread: []board.Unread{
		{Part: board.PartBoard, Cause: "refused"},
		{Part: board.PartBudget, Cause: "refused"},
		{Part: board.PartDirty, Cause: "no answer in time"},
		{Part: board.PartFanOuts, Cause: "no answer in time"},
		{Part: board.PartBroker, Cause: "http 503"},
	}}
	v.Incidents = board.Incidents(v)
	got := statusScreen(shownStatus{View: v})
	for _, want := range []string{
		"Redis does not answer here: refused", "MongoDB does not answer here: no answer in time", "the broker's statistics cannot be read: http 503",
		"no process can be seen", "FRESHNESS  cannot be read", "BUDGET     cannot be read", "DIRTY      cannot be read",
		"BROKER     cannot be read", "FAN-OUTS   cannot be read",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestWhatTheBrokerSaysOfEachConsumer(t *testing.T) {
	v := busyView()
	v.Unread = nil
	v.Broker = &board.Broker{
		Backlog: 12000, Unacked: 3000, Oldest: noon.Add(-3 * time.Second), Blocked: true, Draining: 4, DeadLetters: 1,
		Consumers: []board.Consumer{{Name: "refresher-7c9", Keys: 0.6, Unacked: 3000, Blocked: true}, {Name: "stray", Keys: 0.4, Draining: 4}},
	}
	got := statusScreen(shownStatus{View: v})
	for _, want := range []string{
		"BROKER     backlog 12 000, un-acked 3 000, in replay 0, oldest 3.0s", "BLOCKED, draining hashes 4, ack holes 0, dead letters 1",
		"load 25 %, BLOCKED, 60 % of keys, 3 000 un-acked", "consumer stray, which tells nothing of itself: 40 % of keys, 0 un-acked, 4 draining",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestVersionsThatDifferAreShown(t *testing.T) {
	v := busyView()
	v.Instances[0].Version = "1.5.0-a-long-one"
	got := statusScreen(shownStatus{View: v})
	for _, want := range []string{"refresher-7c9 1.5.0-a-lo… up", "keeper-2      1.4.0       up"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestNothingIsWrong(t *testing.T) {
	if got := statusScreen(shownStatus{View: board.View{At: noon}}); !strings.Contains(got, "\nNothing is wrong.\n") {
		t.Error(got)
	}
	partly := board.View{At: noon, Unread: []board.Unread{{Part: board.PartDirty}}}
	if got := statusScreen(shownStatus{View: partly}); !strings.Contains(got, "Nothing is wrong in what could be read.") {
		t.Error(got)
	}
}

// However much there is, it stays a screen.
func TestTheScreenHasRoom(t *testing.T) {
	long := strings.Repeat("very-long-name-", 10)
	v := busyView()
	for n := range 50 {
		v.Incidents = append(v.Incidents, board.Incident{Severity: board.Page, Runbook: "RollcallStuck", Text: "short"})
		v.Instances = append(v.Instances, board.Instance{Instance: fmt.Sprint(long, n), Role: board.Refresher, Version: long, Workers: 1})
		v.Budget.Hottest = append(v.Budget.Hottest, board.TenantUse{Tenant: long})
		v.FanOuts.Shown = append(v.FanOuts.Shown, board.FanOut{Tenant: long, Staff: long})
		v.Work.Top = append(v.Work.Top, board.TenantWork{Tenant: long, Runnable: 1})
		v.Work.Held[reason.Reason(fmt.Sprint(long, n))] = n
		v.Dirty.Reasons = append(v.Dirty.Reasons, board.DirtyReason{Reason: reason.Reason(long), Codes: n})
	}
	lines := strings.Split(strings.TrimSuffix(statusScreen(shownStatus{View: v}), "\n"), "\n")
	for _, line := range lines {
		if columns(line) > 100 {
			t.Errorf("%d columns: %s", columns(line), line)
		}
	}
	if len(lines) > 50 {
		t.Errorf("%d lines:\n%s", len(lines), strings.Join(lines, "\n"))
	}
}

func TestWordsOfTheScreen(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0.0s", 9900 * time.Millisecond: "9.9s", 10 * time.Second: "10s", 61 * time.Second: "1m01s",
		3 * time.Hour: "3h00m", 49 * time.Hour: "2d01h",
	} {
		if got := brief(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1 000", 1234567: "1 234 567", -100: "-100", -1000: "-1 000"} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	for part, want := range map[float64]string{0: "0 %", 0.001: "0.1 %", 0.5: "50 %", 0.9999: "99.9 %", 0.0004: "<0.1 %", 1: "100 %", -1.5: "-150 %", 1.4: "140 %"} {
		if got := share(part); got != want {
			t.Errorf("%v: %s, want %s", part, got, want)
		}
	}
	if got := bars([]int{0, 1, 50, 100}); got != "·▁▄█" {
		t.Error(got)
	}
}
