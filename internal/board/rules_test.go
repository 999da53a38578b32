package board_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// calm is an installation in which nothing is wrong.
func calm() board.View {
	return board.View{
		At: noon,
		Instances: []board.Instance{
			{Instance: "r-1", Role: board.Refresher, Heard: noon},
			{Instance: "r-2", Role: board.Refresher, Heard: noon},
			{Instance: "i-1", Role: board.Ingress, Heard: noon},
			{Instance: "k-1", Role: board.Keeper, Heard: noon, Leads: true},
		},
		Freshness: &board.Objectives{LastFive: board.Kept{Share: 1, BudgetLeft: 1}, LastHour: board.Kept{Share: 1, BudgetLeft: 1}},
		Work: &board.Totals{
			Refreshers: 2, Workers: 16, Limit: 1000, Held: map[reason.Reason]int{},
			LastFive: board.Activity{Accounted: 9, Calls: 100, Errors: map[reason.Reason]int{}},
		},
		Dirty:   &board.DirtySet{},
		Broker:  &board.Broker{Consumers: []board.Consumer{{Name: "r-1"}, {Name: "r-2"}}},
		Budget:  &board.Budget{},
		FanOuts: &board.FanOuts{},
	}
}

func unread(parts ...board.Part) []board.Unread {
	var all []board.Unread
	for _, part := range parts {
		all = append(all, board.Unread{Part: part, Cause: "no answer"})
	}
	return all
}

func dirtyFor(why reason.Reason, codes int, age time.Duration) *board.DirtySet {
	return &board.DirtySet{Codes: codes, Reasons: []board.DirtyReason{{Reason: why, Codes: codes, Oldest: noon.Add(-age)}}}
}

// lacking has so many of the processes say that a server does not answer.
func lacking(v *board.View, server string, n int) {
	for i := range n {
		v.Instances[i].Missing = []board.Missing{{Name: server, Cause: "no answer"}}
	}
}

func kept(share float64) board.Kept {
	return board.Kept{Quantiles: board.Quantiles{Count: 1000}, Late: int(1000 * (1 - share)), Share: share, BudgetLeft: 1 - (1-share)/0.01}
}

// Each line is an incident: severity, runbook, reason, how long ago it began, and
// what it means.
func TestIncidents(t *testing.T) {
	tests := map[string]struct {
		wrong func(v *board.View)
		want  []string
	}{
		"nothing is wrong": {func(*board.View) {}, nil},
		"the board is away": {func(v *board.View) {
			v.Unread, v.Instances, v.Freshness, v.Work, v.Budget = unread(board.PartBoard, board.PartBudget), nil, nil, nil, nil
		}, []string{"page RollcallStoreDown store_down: Redis does not answer here: no answer"}},
		"MongoDB is away": {func(v *board.View) {
			v.Unread, v.Dirty, v.FanOuts = unread(board.PartDirty, board.PartFanOuts), nil, nil
		}, []string{"page RollcallStoreDown store_down: MongoDB does not answer here: no answer"}},
		"the dirty set is too large to be counted in time": {
			func(v *board.View) { v.Unread, v.Dirty = unread(board.PartDirty), nil },
			[]string{"ticket RollcallStoreDown store_down: MongoDB answers here, and the part dirty cannot be read: no answer"},
		},
		"what tenants call cannot be read": {
			func(v *board.View) { v.Unread, v.Budget = unread(board.PartBudget), nil },
			[]string{"ticket RollcallStoreDown store_down: Redis answers here, and the part budget cannot be read: no answer"},
		},
		"MongoDB is away for most": {
			func(v *board.View) { lacking(v, "mongodb", 3) },
			[]string{"page RollcallStoreDown store_down: MongoDB does not answer 3 of 4 processes"},
		},
		"for half of them": {func(v *board.View) { lacking(v, "mongodb", 2) }, nil},
		"a store is away for some codes": {
			func(v *board.View) { v.Work.Held[reason.StoreDown] = 1 },
			[]string{"page RollcallStoreDown store_down: 1 code waits because a store does not answer their refresher"},
		},
		"no refresher": {func(v *board.View) {
			v.Instances[0].Silent, v.Instances[0].Heard = true, noon.Add(-2*time.Minute)
			v.Instances[1].Silent, v.Instances[1].Heard = true, noon.Add(-time.Minute)
		}, []string{
			"page RollcallRefreshersDown 1m0s: no refresher is heard: no list changes, events wait at the broker",
			"ticket RollcallInstanceDown 2m0s: not heard any more: refresher r-1, refresher r-2",
		}},
		"no consumer": {
			func(v *board.View) { v.Broker.Consumers = nil },
			[]string{"page RollcallRefreshersDown: no refresher is connected to the broker: no list changes"},
		},
		"no keeper at work": {
			func(v *board.View) { v.Instances[3].Leads = false },
			[]string{"page RollcallNoKeeper 0s: no keeper is at work: shifts, midnights and dirty codes change no list"},
		},
		"a keeper that starts": {func(v *board.View) {
			v.Instances[3].Leads, v.Instances[3].Started = false, noon.Add(-19*time.Second)
		}, nil},
		"a keeper whose clock is ahead": {
			func(v *board.View) { v.Instances[3].Leads, v.Instances[3].Started = false, noon.Add(time.Hour) },
			[]string{"page RollcallNoKeeper 0s: no keeper is at work: shifts, midnights and dirty codes change no list"},
		},
		"the broker is away": {
			func(v *board.View) { lacking(v, "pulsar", 2) },
			[]string{"page RollcallBrokerDown: no refresher is connected to the broker: no event comes through"},
		},
		"for one refresher": {func(v *board.View) { lacking(v, "pulsar", 1) }, nil},
		"its statistics are": {
			func(v *board.View) { v.Broker, v.Unread = nil, unread(board.PartBroker) },
			[]string{"ticket RollcallSubscriptionUnseen: the broker's statistics cannot be read: no answer"},
		},
		"nobody asks for them": {func(v *board.View) {
			v.Broker, v.Unread = nil, []board.Unread{{Part: board.PartBroker, Unset: true}}
		}, nil},
		"work and no end": {
			func(v *board.View) { v.Work.LastFive = board.Activity{Busy: 1} },
			[]string{"page RollcallStuck 5m0s: there is work, and for five minutes no refresh has ended"},
		},
		"messages and no end": {func(v *board.View) {
			v.Work.LastFive.Accounted, v.Broker.Backlog, v.Broker.Oldest = 0, 1, noon.Add(-6*time.Minute)
		}, []string{"page RollcallStuck 5m0s: there is work, and for five minutes no refresh has ended"}},
		"no work and no end": {func(v *board.View) { v.Work.LastFive = board.Activity{} }, nil},
		"one message stays": {
			func(v *board.View) { v.Broker.Oldest, v.Broker.Draining = noon.Add(-11*time.Minute), 2 },
			[]string{"page RollcallConsumerStuck 11m0s: codes move, and the oldest message does not; 2 hashes are draining"},
		},
		"a consumer is blocked": {
			func(v *board.View) { v.Broker.Blocked, v.Broker.Consumers[1].Blocked = true, true },
			[]string{"page RollcallConsumerBlocked: the broker delivers no more to r-2: too many un-acked messages"},
		},
		"pushes are late": {
			func(v *board.View) { v.Freshness.LastFive, v.Freshness.LastHour = kept(0.8), kept(0.8) },
			[]string{"page RollcallFreshnessBurnFast: 20.0 % of the last hour's pushes took longer than 5s; 1 % may"},
		},
		"and were, but are no more": {func(v *board.View) { v.Freshness.LastFive, v.Freshness.LastHour = kept(1), kept(0.8) }, nil},
		"some are": {
			func(v *board.View) { v.Freshness.LastFive, v.Freshness.LastHour = kept(0.9), kept(0.9) },
			[]string{"ticket RollcallFreshnessBurnSlow: 10.0 % of the last hour's pushes took longer than 5s; 1 % may"},
		},
		"few pushes, and few late": {func(v *board.View) {
			v.Freshness.LastFive, v.Freshness.LastHour = kept(0), kept(0)
			v.Freshness.LastHour.Late = 10
		}, nil},
		"WeCom fails": {
			func(v *board.View) { v.Work.LastFive.Errors[reason.Transient] = 51 },
			[]string{"page RollcallVendorFailing transient: WeCom did not take 51 of the last five minutes' 100 calls"},
		},
		"half of the calls": {func(v *board.View) { v.Work.LastFive.Errors[reason.Transient] = 50 }, nil},
		"few calls":         {func(v *board.View) { v.Work.LastFive.Calls, v.Work.LastFive.Errors[reason.Transient] = 5, 5 }, nil},
		"a tenant is blocked": {func(v *board.View) {
			v.Work.Held[reason.Blocked] = 12
			v.Budget.Hottest = []board.TenantUse{{Tenant: "acme", BlockedUntil: noon.Add(time.Minute)}, {Tenant: "calm", BlockedUntil: noon}}
		}, []string{"page RollcallTenantBlocked blocked: WeCom has blocked acme (45009); 12 codes held, until 12:01:00"}},
		"some tenant is": {
			func(v *board.View) { v.Work.Held[reason.Blocked] = 1 },
			[]string{"page RollcallTenantBlocked blocked: WeCom has blocked a tenant (45009); 1 code held"},
		},
		"one that calls little is, for an hour": {
			func(v *board.View) { v.Work.LastFive.Refusals = map[reason.Reason]int{reason.Blocked: 3} },
			[]string{"page RollcallTenantBlocked blocked: WeCom has blocked a tenant (45009); 3 pushes of the last five minutes refused for that"},
		},
		"a tenant is suspended": {func(v *board.View) {
			v.Work.Held[reason.Suspended] = 2
			v.Work.Top = []board.TenantWork{{Tenant: "acme", Held: map[reason.Reason]int{reason.Suspended: 2}}, {Tenant: "calm"}}
			v.Dirty = dirtyFor(reason.Credentials, 3, time.Hour)
		}, []string{"ticket RollcallTenantSuspended suspended 1h0m0s: WeCom refuses the credentials of acme; 5 codes wait"}},
		"many instances are silent": {func(v *board.View) {
			for n := range 5 {
				v.Instances = append(v.Instances, board.Instance{Instance: fmt.Sprint(n), Role: board.Ingress, Silent: true, Heard: noon.Add(-time.Minute)})
			}
		}, []string{"ticket RollcallInstanceDown 1m0s: not heard any more: ingress 0, ingress 1, ingress 2 and 2 more"}},
		"too much is held": {
			func(v *board.View) { v.Work.HeldSum = 601 },
			[]string{"ticket RollcallHeldNearLimit: the refreshers hold 601 of the 1000 codes that they may; more go to the dirty set"},
		},
		"too much to do": {
			func(v *board.View) { v.Work.Load, v.Work.Runnable = 1.5, 40 },
			[]string{"ticket RollcallRefreshersFull: the work at hand could keep 150 % of the workers busy; 40 codes in line"},
		},
		"busy without a line": {func(v *board.View) { v.Work.Load = 1 }, nil},
		"a bug": {
			func(v *board.View) { v.Work.LastHour.Panics = 1 },
			[]string{"ticket RollcallPanics panicked: 1 refresh of the last hour met a bug of Rollcall's; the log has the stack"},
		},
		"dead letters": {
			func(v *board.View) { v.Broker.DeadLetters = 2 },
			[]string{"ticket RollcallDeadLetters: 2 dead letters wait for a person"},
		},
		"one dead letter": {
			func(v *board.View) { v.Broker.DeadLetters = 1 },
			[]string{"ticket RollcallDeadLetters: 1 dead letter waits for a person"},
		},
		"an old repair": {
			func(v *board.View) { v.Dirty = dirtyFor(reason.BadMember, 1, 5*time.Hour) },
			[]string{"ticket RollcallDirtyOld bad_member 5h0m0s: a code has been dirty for longer than a wait lasts: a person is needed"},
		},
		"the oldest of many": {
			func(v *board.View) { v.Dirty = dirtyFor(reason.BadMember, 12, 5*time.Hour) },
			[]string{"ticket RollcallDirtyOld bad_member 5h0m0s: the oldest of 12 codes has been dirty for longer than a wait lasts: a person is needed"},
		},
		"an old wait": {func(v *board.View) { v.Dirty = dirtyFor(reason.Throttled, 1, 5*time.Hour) }, nil},
		"a very old wait": {
			func(v *board.View) { v.Dirty = dirtyFor(reason.Throttled, 1, 25*time.Hour) },
			[]string{"ticket RollcallDirtyOld throttled 25h0m0s: a code has been dirty for longer than a wait lasts: a person is needed"},
		},
		"an operator's hold": {func(v *board.View) { v.Dirty = dirtyFor(reason.OnHold, 9, 99*time.Hour) }, nil},
		"nobody is left":     {func(v *board.View) { v.Dirty = dirtyFor(reason.NobodyLeft, 9, 99*time.Hour) }, nil},
		"somebody else writes": {
			func(v *board.View) { v.Dirty = dirtyFor(reason.ForeignEdit, 2, time.Minute) },
			[]string{"ticket RollcallDivergence foreign_edit 1m0s: somebody else changed 2 contact ways at WeCom; they are being mended"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := calm()
			tt.wrong(&v)
			var got []string
			for _, i := range board.Incidents(v) {
				got = append(got, line(i))
				if _, err := os.Stat("../../docs/runbooks/" + i.Runbook + ".md"); err != nil {
					t.Errorf("%s is no runbook", i.Runbook)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func line(i board.Incident) string {
	head := string(i.Severity) + " " + i.Runbook
	if i.Reason != "" {
		head += " " + i.Reason.String()
	}
	if !i.Since.IsZero() {
		head += " " + noon.Sub(i.Since).String()
	}
	return head + ": " + i.Text
}

func TestIncidentsThatPageComeFirst(t *testing.T) {
	v := calm()
	v.Broker.DeadLetters, v.Work.Held[reason.Blocked] = 1, 1
	found := board.Incidents(v)
	if len(found) != 2 || found[0].Severity != board.Page || !board.Pages(found) || board.Pages(found[1:]) {
		t.Errorf("%v", found)
	}
	if strings.Contains(fmt.Sprint(board.Incidents(calm())), "Rollcall") || board.Pages(nil) {
		t.Error("nothing is wrong")
	}
}
