package board_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// installation answers what a Looker asks; a server that is away hangs.
type installation struct {
	redis, mongo, pulsar error
	reports              []board.Report
	uses                 []board.TenantUse
	named                []string
}

func (i *installation) Reports(context.Context) ([]board.Report, error) { return i.reports, i.redis }

func (i *installation) Hottest(_ context.Context, _ time.Time, _ int, named []string) ([]board.TenantUse, error) {
	i.named = named
	return i.uses, i.redis
}

func (i *installation) Census(context.Context) ([]board.DirtyReason, error) {
	return []board.DirtyReason{{Reason: reason.Backoff, Codes: 1}, {Reason: reason.Throttled, Codes: 4}}, i.mongo
}

func (i *installation) UnderWay(context.Context, time.Time, int) ([]board.FanOut, int, error) {
	return []board.FanOut{{ID: "f"}}, 3, i.mongo
}

func (i *installation) Subscription(ctx context.Context) (board.Broker, error) {
	if errors.Is(i.pulsar, context.DeadlineExceeded) {
		<-ctx.Done()
		return board.Broker{}, ctx.Err()
	}
	return board.Broker{Backlog: 5, Consumers: []board.Consumer{{Name: "r-1"}}}, i.pulsar
}

func (i *installation) look(t *testing.T) board.View {
	t.Helper()
	return board.Looker{
		Ports:       board.Ports{Reports: i, Uses: i, Census: i, Recomputations: i, Figures: i},
		MinuteLimit: 10, HourLimit: 100, Timeout: time.Second, Now: func() time.Time { return noon },
	}.Look(t.Context())
}

func parts(v board.View) []string {
	var seen []string
	for name, read := range map[string]bool{
		"freshness": v.Freshness != nil, "work": v.Work != nil, "dirty": v.Dirty != nil, "broker": v.Broker != nil,
		"budget": v.Budget != nil, "fan_outs": v.FanOuts != nil,
	} {
		if !read {
			seen = append(seen, name)
		}
	}
	return seen
}

func TestALookHasEverything(t *testing.T) {
	blocked := map[reason.Reason]int{reason.Blocked: 1}
	i := &installation{
		reports: []board.Report{refresher("r-1", board.Work{Top: []board.TenantWork{{Tenant: "acme", Held: blocked}, {Tenant: "calm"}}})},
		uses: []board.TenantUse{
			{Tenant: "idle"}, {Tenant: "busy", Minute: 9}, {Tenant: "busier", Minute: 10, Hour: 1}, {Tenant: "acme", BlockedUntil: noon.Add(time.Second)},
		},
	}
	v := i.look(t)
	if missing := parts(v); len(missing) != 0 || len(v.Unread) != 0 || len(v.Instances) != 1 {
		t.Errorf("not there: %v, %v", missing, v.Unread)
	}
	if diff := cmp.Diff([]string{"acme"}, i.named); diff != "" {
		t.Errorf("whose budget is asked for:\n%s", diff)
	}
	var order []string
	for _, u := range v.Budget.Hottest {
		order = append(order, u.Tenant)
	}
	if diff := cmp.Diff([]string{"acme", "busier", "busy", "idle"}, order); diff != "" {
		t.Error(diff)
	}
	if v.Dirty.Codes != 5 || v.Dirty.Reasons[0].Reason != reason.Throttled || v.FanOuts.Running != 3 || v.Budget.HourLimit != 100 {
		t.Errorf("%+v", v)
	}
	if got := fmt.Sprint(v.Incidents[0].Runbook, v.Incidents[1].Runbook); got != "RollcallNoKeeperRollcallTenantBlocked" {
		t.Errorf("incidents: %v", v.Incidents)
	}
}

func TestAServerThatIsAwayTakesItsPartsAlone(t *testing.T) {
	away := errors.New("connection refused")
	tests := map[string]struct {
		installation
		missing int
		want    []board.Unread
	}{
		"redis": {installation{redis: away}, 3, []board.Unread{
			{Part: board.PartBoard, Cause: "connection refused"}, {Part: board.PartBudget, Cause: "connection refused"},
		}},
		"mongo": {installation{mongo: away}, 2, []board.Unread{
			{Part: board.PartDirty, Cause: "count the dirty set: connection refused"}, {Part: board.PartFanOuts, Cause: "list the fan-outs: connection refused"},
		}},
		"pulsar":        {installation{pulsar: away}, 1, []board.Unread{{Part: board.PartBroker, Cause: "connection refused"}}},
		"pulsar, unset": {installation{pulsar: board.ErrUnset}, 1, []board.Unread{{Part: board.PartBroker, Cause: "a setting is missing", Unset: true}}},
		"pulsar, hangs": {installation{pulsar: context.DeadlineExceeded}, 1, []board.Unread{{Part: board.PartBroker, Cause: "context deadline exceeded"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := tt.look(t)
				if missing := parts(v); len(missing) != tt.missing {
					t.Errorf("not there: %v", missing)
				}
				if diff := cmp.Diff(tt.want, v.Unread); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}
