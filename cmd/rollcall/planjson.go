package main

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/plan"
)

// shownPlan is a plan as JSON.
type shownPlan struct {
	Tenant   string        `json:"tenant"`
	Start    time.Time     `json:"start"`
	Seconds  float64       `json:"length_s"`
	AsItIs   shownOutcome  `json:"as_it_is"`
	WhatIf   string        `json:"what_if,omitempty"`
	Other    *shownOutcome `json:"other,omitempty"`
	Remedies []shownRemedy `json:"remedies"`
}

type shownRemedy struct {
	What   string  `json:"what"`
	Pushes int     `json:"pushes"`
	P95    float64 `json:"freshness_p95_s"`
}

// shownOutcome has times in seconds since the start.
type shownOutcome struct {
	Codes          int                `json:"codes"`
	People         int                `json:"people"`
	Places         int                `json:"places"`
	Rate           float64            `json:"calls_per_second"`
	Additions      int                `json:"additions"`
	Lost           int                `json:"additions_lost"`
	AtCeiling      int                `json:"people_at_company_ceiling"`
	Events         int                `json:"events"`
	Changes        int                `json:"changes"`
	ByCause        map[plan.Cause]int `json:"changes_by_cause"`
	Pushes         int                `json:"pushes"`
	Least          int                `json:"pushes_least"`
	Most           int                `json:"pushes_most"`
	Throttled      int                `json:"pushes_throttled"`
	Hours          []shownHour        `json:"hours"` // each a 24th of the length
	Window         shownWindow        `json:"busiest_window"`
	Saturated      shownSaturation    `json:"saturated"`
	QuietSeconds   float64            `json:"quiet_s"`
	NearlySeconds  float64            `json:"nearly_all_s"` // 99 % of the pushes
	LastSeconds    float64            `json:"last_push_s"`
	DrainSeconds   float64            `json:"drain_s"`
	Endless        bool               `json:"endless"`
	FreshnessP50   float64            `json:"freshness_p50_s"`
	FreshnessP95   float64            `json:"freshness_p95_s"`
	FreshnessWorst float64            `json:"freshness_max_s"`
	Costs          []shownCost        `json:"costs"`
}

type shownHour struct {
	Pushes  int `json:"pushes"`
	Waiting int `json:"waiting"`
}

type shownWindow struct {
	Pushes int     `json:"pushes"`
	Of     int     `json:"of"`
	At     float64 `json:"at_s"`
}

type shownSaturation struct {
	From    float64 `json:"from_s"`
	Whole   float64 `json:"whole_s"`
	Longest float64 `json:"longest_s"`
	Peak    int     `json:"peak_codes"`
	PeakAt  float64 `json:"peak_at_s"`
}

type shownCost struct {
	Staff string     `json:"staff"`
	Codes int        `json:"codes"`
	Lists int        `json:"lists"`
	Cause plan.Cause `json:"cause"`
	At    float64    `json:"at_s"`
}

func (p planned) json() shownPlan {
	s := shownPlan{
		Tenant: p.present.Tenant, Start: p.in.Campaign.Start, Seconds: p.in.Campaign.Length.Seconds(),
		AsItIs: outcomeJSON(p.present), WhatIf: p.whatIf, Remedies: []shownRemedy{},
	}
	if p.other != nil {
		other := outcomeJSON(*p.other)
		s.Other = &other
	}
	for _, r := range p.remedies {
		s.Remedies = append(s.Remedies, shownRemedy{r.What, r.Outcome.Pushes, r.Outcome.Freshness.P95.Seconds()})
	}
	return s
}

func outcomeJSON(o plan.Outcome) shownOutcome {
	s := shownOutcome{
		Codes: o.Codes, People: o.People, Places: o.Seats, Rate: o.Rate, Additions: o.Additions, Lost: o.Lost, AtCeiling: o.Ceilings,
		Events: o.Events, Changes: o.Changes, ByCause: o.ByCause, Pushes: o.Pushes, Least: o.Least, Most: o.Most, Throttled: o.Throttled,
		Window:    shownWindow{o.Busiest.Pushes, o.Busiest.Of, o.Busiest.At.Seconds()},
		Saturated: saturationJSON(o.Saturation), QuietSeconds: o.Quiet.Seconds(), NearlySeconds: o.NearlyAll.Seconds(), LastSeconds: o.LastPush.Seconds(), DrainSeconds: o.Drain().Seconds(),
		Endless:      o.Endless,
		FreshnessP50: o.Freshness.P50.Seconds(), FreshnessP95: o.Freshness.P95.Seconds(), FreshnessWorst: o.Freshness.Max.Seconds(),
		Costs: []shownCost{},
	}
	for _, h := range o.Hours {
		s.Hours = append(s.Hours, shownHour(h))
	}
	for _, c := range o.Costs {
		s.Costs = append(s.Costs, shownCost{c.Person, c.Codes, c.Lists, c.Cause, c.At.Seconds()})
	}
	return s
}

func saturationJSON(s plan.Saturation) shownSaturation {
	return shownSaturation{s.From.Seconds(), s.Whole.Seconds(), s.Longest.Seconds(), s.Peak, s.PeakAt.Seconds()}
}

// shownPlans is the plan of all tenants as JSON.
type shownPlans struct {
	Start  time.Time `json:"start"`
	Whole  bool      `json:"all_tenants"`
	AsItIs shownSum  `json:"as_it_is"`
	WhatIf string    `json:"what_if,omitempty"`
	Other  *shownSum `json:"other,omitempty"`
}

type shownSum struct {
	Tenants   int             `json:"tenants"`
	Codes     int             `json:"codes"`
	Additions int             `json:"additions"`
	Events    int             `json:"events"`
	Changes   int             `json:"changes"`
	Pushes    int             `json:"pushes"`
	Short     int             `json:"tenants_saturated"`
	Address   shownSaturation `json:"address_saturated"`
	Dearest   []shownTenant   `json:"dearest"`
}

type shownTenant struct {
	Tenant string `json:"tenant"`
	shownOutcome
}

func (a plannedAll) json(world plan.WhatIf) shownPlans {
	s := shownPlans{Start: a.start, Whole: a.whole, AsItIs: sumJSON(&a.present, a.budget), WhatIf: a.whatIf}
	if a.other != nil {
		other := sumJSON(a.other, world.Budget(a.budget))
		s.Other = &other
	}
	return s
}

func sumJSON(sum *plan.Sum, b plan.Budget) shownSum {
	s := shownSum{
		Tenants: sum.Tenants, Codes: sum.Codes, Additions: sum.Additions, Events: sum.Events, Changes: sum.Changes, Pushes: sum.Pushes,
		Short: sum.Short, Address: saturationJSON(sum.AtAddress(b)), Dearest: []shownTenant{},
	}
	for _, o := range sum.Dearest {
		s.Dearest = append(s.Dearest, shownTenant{o.Tenant, outcomeJSON(o)})
	}
	return s
}
