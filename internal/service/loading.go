package service

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/keyqueue"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// The most tenants that one answer of /backlog names, and how many it does when
// it is not asked for a number.
const (
	maxTop     = 1000
	defaultTop = 20
)

// load is what the tenants' codes would do to a number of workers, and who has
// most codes.
func load(tenants []keyqueue.TenantStats, workers int) metrics.Load {
	workable := 0
	for _, t := range tenants {
		workable += t.Workable()
	}
	now := metrics.Load{Share: float64(workable) / float64(workers)}
	for _, t := range busiest(tenants, metrics.Ranks) {
		now.Top = append(now.Top, t.Waiting())
	}
	return now
}

// busiest are the tenants with most codes that wait, most first; the others are
// left out.
func busiest(tenants []keyqueue.TenantStats, n int) []keyqueue.TenantStats {
	sorted := slices.SortedFunc(slices.Values(tenants), func(a, b keyqueue.TenantStats) int {
		return cmp.Or(cmp.Compare(b.Waiting(), a.Waiting()), cmp.Compare(a.Tenant, b.Tenant))
	})
	return sorted[:min(n, len(sorted))]
}

func limits(cfg config.Config) metrics.Limits {
	b := cfg.Budget
	return metrics.Limits{TenantMinute: b.TenantPerMinute, TenantHour: b.TenantPerHour, IPMinute: b.IPPerMinute, IPHour: b.IPPerHour, Codes: room(cfg)}
}

// backlogPage answers who has most codes in this process, and what they wait
// for. The metrics cannot say it: a tenant is no label.
type backlogPage struct {
	tenants func() []keyqueue.TenantStats
	workers int
}

type backlogAnswer struct {
	Tenants int             `json:"tenants"` // that have codes here
	Workers int             `json:"workers"`
	Load    float64         `json:"load"`
	Top     []tenantBacklog `json:"top"`
}

type tenantBacklog struct {
	Tenant   string                `json:"tenant"`
	Runnable int                   `json:"runnable"`
	InFlight int                   `json:"in_flight"`
	Limit    int                   `json:"in_flight_limit"`
	Held     map[reason.Reason]int `json:"held"` // by cause
}

func (p backlogPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := defaultTop
	if asked := r.URL.Query().Get("top"); asked != "" {
		var err error
		if n, err = strconv.Atoi(asked); err != nil || n < 1 || n > maxTop {
			http.Error(w, fmt.Sprintf("top=%q is not a number of tenants from 1 to %d", asked, maxTop), http.StatusBadRequest)
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(p.answer(n)) // the client has gone: there is nobody to tell
}

func (p backlogPage) answer(n int) backlogAnswer {
	tenants := p.tenants()
	out := backlogAnswer{Tenants: len(tenants), Workers: p.workers, Load: load(tenants, p.workers).Share, Top: []tenantBacklog{}}
	for _, t := range busiest(tenants, n) {
		held := map[reason.Reason]int{}
		for cause, codes := range t.Held {
			if codes > 0 {
				held[cause] = codes
			}
		}
		out.Top = append(out.Top, tenantBacklog{Tenant: t.Tenant, Runnable: t.Ready, InFlight: t.InFlight, Limit: t.Limit, Held: held})
	}
	return out
}
