//go:build integration

package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/service"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
)

// What an operator sees without Prometheus: that all is well, that a tenant is
// blocked, and that nobody works any more.
func TestStatusSaysWhatIsWrong(t *testing.T) {
	const codes = 40
	h := newHouse(t, wecomsim.Options{})
	h.tenant("acme", "amy")
	for n := range codes {
		h.code(roster.Code{ID: h.codeName(n), Tenant: "acme"}, "amy")
	}
	stopRefreshers := h.start(service.RunRefresher, "r-1", "r-2")
	stopKeeper := h.start(service.RunKeeper, "k-1")
	status, err := service.OpenStatus(t.Context(), h.cfg)
	h.must(err)
	t.Cleanup(func() { h.must(status.Close(context.WithoutCancel(t.Context()))) })
	h.sees(status, "all processes", func(v board.View) bool {
		return len(v.Instances) == 3 && v.Broker != nil && len(v.Broker.Consumers) == 2
	})

	for n := range codes {
		h.publish("acme", h.codeName(n))
	}
	calm := h.sees(status, "all pushes", func(v board.View) bool {
		return v.Freshness != nil && v.Freshness.LastFive.Count == codes && len(v.Budget.Hottest) == 1 && v.Budget.Hottest[0].Hour == codes
	})
	keys := 0.0
	for _, c := range calm.Broker.Consumers {
		keys += c.Keys
	}
	if keys < 0.999 || keys > 1.001 || calm.Broker.Consumers[0].Keys == 0 {
		t.Errorf("shares of the keys: %+v", calm.Broker.Consumers)
	}
	if len(calm.Incidents) != 0 || len(calm.Unread) != 0 || calm.Work.LastFive.Calls != codes {
		t.Errorf("incidents %v, unread %v, %d calls", calm.Incidents, calm.Unread, calm.Work.LastFive.Calls)
	}
	minutes, err := status.Use(t.Context(), "acme", time.Now().Add(-time.Hour))
	h.must(err)
	if used := granted(minutes); used != codes {
		t.Errorf("budget over time: %v", minutes)
	}

	_, err = h.sim.AddFault(fault.Rule{API: "update_contact_way", Action: fault.ErrCode, ErrCode: 45009, Count: 1})
	h.must(err)
	h.must(h.db.Facts().SetPresence(t.Context(), "acme", "amy", roster.OfflineNow))
	h.code(roster.Code{ID: h.codeName(0), Tenant: "acme", Switches: roster.Switches{OfflineCheck: true}, Backups: []string{"bob"}}, "amy")
	h.must(h.db.Facts().PutStaff(t.Context(), "acme", roster.Staff{ID: "bob", Presence: roster.Online}))
	h.publish("acme", h.codeName(0))
	blocked := h.sees(status, "the block", func(v board.View) bool {
		return slices.Contains(runbooks(v), "RollcallTenantBlocked") && v.Budget.Hottest[0].BlockedUntil.After(v.At)
	})
	if !board.Pages(blocked.Incidents) {
		t.Errorf("%v", blocked.Incidents)
	}

	stopRefreshers()
	stopKeeper()
	gone := h.sees(status, "that nobody works", func(v board.View) bool {
		return len(v.Instances) == 0 && v.Broker != nil && len(v.Broker.Consumers) == 0
	})
	if diff := cmp.Diff([]string{"RollcallRefreshersDown", "RollcallNoKeeper"}, runbooks(gone)[:2]); diff != "" {
		t.Error(diff)
	}
}

func (h *house) codeName(n int) string { return fmt.Sprintf("%s-%d", h.cfg.MongoDB.Database, n) }

// start runs processes until stop, or the end of the test.
func (h *house) start(role func(context.Context, config.Config, string, ...service.Seams) error, names ...string) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.Context()))
	ended := make(chan error, len(names))
	for _, name := range names {
		cfg := h.cfg
		cfg.Refresher.Instance = name
		go func() { ended <- role(ctx, cfg, "test") }()
	}
	left := len(names)
	stop = func() {
		cancel()
		for ; left > 0; left-- {
			if err := <-ended; err != nil {
				h.Error(err)
			}
		}
	}
	h.Cleanup(stop)
	return stop
}

// sees looks until what is seen is as expected.
func (h *house) sees(status *service.Status, what string, ok func(board.View) bool) board.View {
	h.Helper()
	var seen board.View
	h.Cleanup(func() {
		if h.Failed() {
			h.Logf("%s: %+v", what, seen)
		}
	})
	eventually(h.T, 40*time.Second, what, func() bool {
		var err error
		seen, err = status.View(h.Context())
		h.must(err)
		return ok(seen)
	})
	return seen
}

func runbooks(v board.View) []string {
	var names []string
	for _, i := range v.Incidents {
		names = append(names, i.Runbook)
	}
	return names
}

func granted(minutes []board.Minute) int {
	n := 0
	for _, m := range minutes {
		n += m.Granted
	}
	return n
}
