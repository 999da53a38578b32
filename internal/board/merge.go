package board

import (
	"cmp"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Merged is what all reports say together.
type Merged struct {
	Instances []Instance // by role and name
	Freshness Objectives
	Work      Totals
}

// Merge adds reports up. Those that are silent are listed and not counted.
func Merge(reports []Report, now time.Time) Merged {
	var all Merged
	all.Work.Held = map[reason.Reason]int{}
	tenants := map[string]*TenantWork{}
	for _, r := range reports {
		silent := now.Sub(r.At) > SilentAfter
		all.Instances = append(all.Instances, instanceOf(r, silent))
		if r.Work != nil && !silent {
			all.Work.add(*r.Work, tenants)
		}
	}
	slices.SortFunc(all.Instances, func(a, b Instance) int {
		return cmp.Or(cmp.Compare(rank(a.Role), rank(b.Role)), cmp.Compare(a.Instance, b.Instance))
	})
	all.Work.finish(tenants)
	five, hour := all.Work.LastFive, all.Work.LastHour
	all.Freshness = Objectives{
		LastFive: keptOf(five.Promised), LastHour: keptOf(hour.Promised),
		Throttled: quantilesOf(hour.Throttled), Slow: quantilesOf(hour.Slow),
	}
	return all
}

func rank(r Role) int { return slices.Index([]Role{Refresher, Ingress, Keeper}, r) }

func instanceOf(r Report, silent bool) Instance {
	i := Instance{
		Instance: r.Instance, Role: r.Role, Version: r.Version, Started: r.Started, Heard: r.At, Silent: silent,
		Leads: r.Leads && !silent, Missing: r.Missing,
	}
	if r.Work != nil {
		i.Load, i.InFlight, i.Workers = r.Work.Load, r.Work.InFlight, r.Work.Workers
	}
	return i
}

func (t *Totals) add(w Work, tenants map[string]*TenantWork) {
	t.Refreshers++
	t.Runnable += w.Runnable
	t.InFlight += w.InFlight
	t.Workers += w.Workers
	t.Limit += w.Limit
	t.Load += w.Load
	t.Held = added(t.Held, w.Held)
	t.LastFive.add(w.LastFive)
	t.LastHour.add(w.LastHour)
	for _, of := range w.Top {
		known := tenants[of.Tenant]
		if known == nil {
			known = &TenantWork{Tenant: of.Tenant}
			tenants[of.Tenant] = known
		}
		known.Runnable += of.Runnable
		known.InFlight += of.InFlight
		known.Held = added(known.Held, of.Held)
	}
}

func (t *Totals) finish(tenants map[string]*TenantWork) {
	t.HeldSum = sum(t.Held)
	t.Load /= float64(max(t.Refreshers, 1))
	t.Top = []TenantWork{}
	for _, of := range tenants {
		t.Top = append(t.Top, *of)
	}
	slices.SortFunc(t.Top, func(a, b TenantWork) int {
		return cmp.Or(cmp.Compare(b.Waiting(), a.Waiting()), cmp.Compare(a.Tenant, b.Tenant))
	})
	t.Top = t.Top[:min(len(t.Top), MostTenants)]
}

func keptOf(f Freshness) Kept {
	k := Kept{Quantiles: quantilesOf(f), Late: f.Late(), Share: 1, BudgetLeft: 1}
	if k.Count > 0 {
		late := float64(k.Late) / float64(k.Count)
		k.Share, k.BudgetLeft = 1-late, 1-late/(1-Objective)
	}
	return k
}

// Burn is how many times faster than the objective allows its budget is used.
func (k Kept) Burn() float64 { return 1 - k.BudgetLeft }

func quantilesOf(f Freshness) Quantiles {
	return Quantiles{
		Count: f.Count(), P50: SecondsOf(f.Quantile(0.5)), P95: SecondsOf(f.Quantile(0.95)), P99: SecondsOf(f.Quantile(0.99)),
	}
}
