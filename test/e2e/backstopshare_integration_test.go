//go:build integration

package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/service"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/ledger"
)

var backstopFull = flag.Bool("backstop-full", false, "measure what the backstop takes from live changes; minutes")

// The backstop's share is measured in pairs of phases, without and with it, and
// may be measured three times: the machine has other things to do.
const (
	sharePairs = 5
	sharePhase = 15 * time.Second
	shareLimit = 1.1 // of p95 with the backstop to p95 without
	shareTries = 3
)

const (
	shareTenants = 10
	shareLive    = 200  // codes that change
	shareStock   = 5000 // codes that the audit walks over besides
	shareRate    = 40   // changes a second
)

// While facts change, the audit walks at its default rate, the spot check asks
// about a hundredth and dirty codes are mended: live changes are hardly slower
// than with a keeper that does none of it. Phases with and without alternate.
func TestTheBackstopTakesNoMoreThanItsShare(t *testing.T) {
	if !*backstopFull {
		t.Skip("it takes minutes: make test-backstop runs it")
	}
	h := newHouse(t, wecomsim.Options{})
	for i := range shareTenants {
		h.tenant(fmt.Sprint("t", i))
		for j := range 50 {
			h.must(h.db.Facts().PutStaff(t.Context(), fmt.Sprint("t", i), roster.Staff{ID: fmt.Sprint("s", j), Presence: roster.Online}))
		}
	}
	h.stock(shareStock, shareTenants, 50)
	for n := range shareStock {
		c := stocked(n, shareTenants, 50)
		users := make([]string, 0, len(c.Members))
		for _, m := range c.Members {
			users = append(users, m.Staff)
		}
		h.sim.AddWay("corp-"+c.Tenant, wecomsim.Way{ConfigID: c.ConfigID, Type: wecomsim.MultiUser, Users: users})
	}
	for i := range shareLive {
		tenant := fmt.Sprint("t", i%shareTenants)
		h.must(h.db.Facts().PutStaff(t.Context(), tenant, roster.Staff{ID: fmt.Sprint("own-", i), Presence: roster.Online}))
		h.code(roster.Code{ID: fmt.Sprint("live-", i), Tenant: tenant, Switches: roster.Switches{OfflineCheck: true}}, "s0", fmt.Sprint("own-", i))
	}
	h.refresher("r1")
	h.load(2 * time.Second) // and once to get warm
	var ratios, with, without []float64
	for range shareTries {
		with, without, ratios = nil, nil, nil
		for range sharePairs {
			off, on := h.phase(func(c *config.Config) { c.Audit.Rate, c.Spot.Share = 1, 0 }), h.phase(func(*config.Config) {})
			without, with = append(without, off), append(with, on)
			ratios = append(ratios, on/off)
		}
		if median(ratios) <= shareLimit {
			break
		}
	}
	looks, gets := h.calls("update_contact_way"), h.calls("get_contact_way")
	t.Logf("p95 from event to config, ms: without %.0f (%.0f), with %.0f (%.0f), ratio %.2f (%.2f); %d pushes, %d calls of the spot check",
		median(without), without, median(with), with, median(ratios), ratios, looks, gets)
	if got := median(ratios); got > shareLimit {
		t.Errorf("live changes take %.2f times as long beside the backstop; want %.2f at most", got, shareLimit)
	}
	if gets == 0 {
		t.Error("the spot check asked about nothing")
	}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// phase loads the house beside a keeper and returns the p95 of the time from
// event to config, in milliseconds.
func (h *house) phase(edit func(*config.Config)) float64 {
	h.Helper()
	cfg := h.cfg
	cfg.Audit.Every, cfg.Audit.Bound = time.Second, 10*time.Second
	edit(&cfg)
	ctx, stop := context.WithCancel(h.Context())
	ended := make(chan error, 1)
	go func() { ended <- service.RunKeeper(ctx, cfg, "test") }()
	for i := range 200 {
		n := i * (shareStock / 200)
		c := stocked(n, shareTenants, 50)
		h.must(h.db.Dirty().Mark(h.Context(), push.Mark{Ref: push.Ref{Tenant: c.Tenant, Code: c.ID}, Reason: reason.Transient, Due: time.Now()}))
	}
	p95 := h.load(sharePhase)
	stop()
	h.must(<-ended)
	return p95
}

// load changes facts at a steady rate and waits for the last push.
func (h *house) load(d time.Duration) float64 {
	h.Helper()
	type change struct {
		config string
		at     time.Time
	}
	var changes []change
	tick := time.NewTicker(time.Second / shareRate)
	defer tick.Stop()
	began := time.Now()
	for n := 0; time.Since(began) < d; n++ {
		<-tick.C
		i := n % shareLive
		tenant, code := fmt.Sprint("t", i%shareTenants), fmt.Sprint("live-", i)
		presence := roster.OfflineNow
		if len(h.listed(tenant, code)) == 1 {
			presence = roster.Online
		}
		h.must(h.db.Facts().SetPresence(h.Context(), tenant, fmt.Sprint("own-", i), presence))
		at := time.Now()
		h.publish(tenant, code)
		changes = append(changes, change{"cfg-" + code, at})
	}
	eventually(h.T, 30*time.Second, "the load is done with", func() bool { return h.backlog() == 0 })
	var took []float64
	for _, c := range changes {
		for e := range (ledger.Query{API: "update_contact_way", ConfigID: c.config, Since: c.at, Limit: 1}).Select(h.sim.Ledger().All()) {
			took = append(took, float64(e.Applied.Sub(c.at).Microseconds())/1000)
		}
	}
	if len(took) < len(changes)/2 {
		h.Fatalf("%d of %d changes were pushed", len(took), len(changes))
	}
	slices.Sort(took)
	return took[len(took)*95/100]
}
