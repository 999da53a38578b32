package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/rollcall-dev/rollcall/internal/plan"
)

// print shows a plan on one screen: what there is, the figures, the day, who costs
// most, and what to do.
func (p planned) print(w io.Writer) error {
	o := p.present
	parts := []string{p.headline(), p.figures(), p.day(o)}
	if p.other != nil {
		parts = append(parts, "the same with "+p.whatIf+":", p.day(*p.other))
	}
	if costs := p.costs(); costs != "" {
		parts = append(parts, costs)
	}
	return say(w, strings.Join(append(parts, p.advice()), "\n"))
}

func (p planned) headline() string {
	c, o := p.in.Campaign, p.present
	text := fmt.Sprintf("%s, %s from %s: %s, %s on %s.", o.Tenant, shortTime(c.Length), c.Start.Format("2006-01-02 15:04 MST"),
		many(o.Codes, "code"), many(o.People, "person"), many(o.Seats, "place"))
	text = strings.Replace(text, "persons", "people", 1)
	return text + fmt.Sprintf(" WeCom's quota leaves %.1f calls a second after a burst of %d.", math.Floor(10*o.Rate)/10, p.in.Budget.TenantBurst)
}

// figures are the plan, with the other world beside it.
func (p planned) figures() string {
	header := []any{"", "as it is"}
	if p.other != nil {
		header = append(header, p.whatIf)
	}
	t := newTable(header...)
	row := func(what string, of func(plan.Outcome) string) {
		cells := table.Row{what, of(p.present)}
		if p.other != nil {
			cells = append(cells, of(*p.other))
		}
		t.AppendRow(cells)
	}
	row("additions", func(o plan.Outcome) string { return fmt.Sprint(o.Additions) })
	if p.present.Lost > 0 || (p.other != nil && p.other.Lost > 0) {
		row("customers who find nobody", func(o plan.Outcome) string { return fmt.Sprint(o.Lost) })
	}
	row("people at the company's ceiling", func(o plan.Outcome) string { return fmt.Sprint(o.Ceilings) })
	row("events", func(o plan.Outcome) string { return fmt.Sprint(o.Events) })
	row("lists that change", func(o plan.Outcome) string { return fmt.Sprint(o.Changes) })
	for _, cause := range plan.Causes {
		if p.present.ByCause[cause] > 0 || (p.other != nil && p.other.ByCause[cause] > 0) {
			row("  by "+causeWords[cause], func(o plan.Outcome) string { return fmt.Sprint(o.ByCause[cause]) })
		}
	}
	row("changes that merge with others", func(o plan.Outcome) string { return fmt.Sprint(o.Merged()) })
	row("pushes", pushesText)
	row("busiest window of WeCom's", func(o plan.Outcome) string {
		return fmt.Sprintf("%d of %d (%.1f %%) at %s", o.Busiest.Pushes, o.Busiest.Of, 100*o.Busiest.Share(), p.clock(o.Busiest.At))
	})
	row("the quota is short", p.saturationText)
	row("codes that wait for it, at most", p.lineText)
	row("99 % of the pushes are made by", p.nearlyText)
	row("last push", func(o plan.Outcome) string { return p.clock(o.LastPush) })
	row("lists are late by: half, 95 %, all", func(o plan.Outcome) string {
		return fmt.Sprintf("%s, %s, %s", shortTime(o.Freshness.P50), shortTime(o.Freshness.P95), shortTime(o.Freshness.Max))
	})
	return t.Render()
}

// causeWords are what the causes are called.
var causeWords = map[plan.Cause]string{
	plan.Ceiling: "a code's ceilings", plan.CompanyCeiling: "the company's ceiling", plan.Presence: "presence",
	plan.Shift: "shifts", plan.NewDay: "midnight",
}

// pushesText has the spread where chance makes one.
func pushesText(o plan.Outcome) string {
	if o.Least == o.Most {
		return fmt.Sprint(o.Pushes)
	}
	return fmt.Sprintf("%d (%d to %d)", o.Pushes, o.Least, o.Most)
}

func (p planned) saturationText(o plan.Outcome) string {
	s := o.Saturation
	if s.Whole == 0 {
		return "never"
	}
	text := fmt.Sprintf("at %s", p.clock(s.From))
	if s.Whole > s.Longest {
		text += fmt.Sprintf(", for %s in all", shortTime(s.Whole))
	}
	if o.Endless {
		return text + "; it never drains"
	}
	return text + ", drains in " + shortTime(s.Longest)
}

func (p planned) lineText(o plan.Outcome) string {
	if o.Saturation.Peak == 0 {
		return "0"
	}
	return fmt.Sprintf("%d at %s; %d pushes late", o.Saturation.Peak, p.clock(o.Saturation.PeakAt), o.Throttled)
}

func (p planned) nearlyText(o plan.Outcome) string {
	if o.Drain() == 0 {
		return p.clock(o.NearlyAll)
	}
	return fmt.Sprintf("%s, %s after all is quiet", p.clock(o.NearlyAll), shortTime(o.Drain()))
}

// clock is a time of the campaign by the tenant's clock.
func (p planned) clock(at time.Duration) string {
	layout := "15:04"
	if p.in.Campaign.Length < 2*time.Hour {
		layout = time.TimeOnly
	}
	return p.in.Campaign.Start.Add(at).Format(layout)
}

// shortTime is a length of time to three digits or so.
func shortTime(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	}
	return d.Round(time.Second / 10).String()
}

// day draws the pushes of each 24th of the campaign.
func (p planned) day(o plan.Outcome) string {
	most, at := 0, 0
	pushes := make([]int, len(o.Hours))
	for i, h := range o.Hours {
		if pushes[i] = h.Pushes; h.Pushes > most {
			most, at = h.Pushes, i
		}
	}
	return fmt.Sprintf("%s │%s│ %s; at most %d pushes in %s, from %s", p.clock(0), bars(pushes), p.clock(p.in.Campaign.Length),
		most, shortTime(o.HourLength), p.clock(time.Duration(at)*o.HourLength))
}

// costsShown is how many of the dearest are named.
const costsShown = 3

// costTexts say what a person does to his codes.
var costTexts = map[plan.Cause]string{
	plan.Ceiling:        "%s changes %d lists at ceilings of codes, from %s on",
	plan.CompanyCeiling: "%s reaches the company's ceiling: %d lists, at %[3]s",
	plan.Presence:       "%s comes or goes by hand: %d lists, from %s on",
	plan.Shift:          "%s begins or ends his shift: %d lists, from %s on",
}

func (p planned) costs() string {
	var lines []string
	for _, cost := range p.present.Costs[:min(costsShown, len(p.present.Costs))] {
		lines = append(lines, fmt.Sprintf("  "+costTexts[cost.Cause]+" (he is on %d)", cost.Person, cost.Lists, p.clock(cost.At), cost.Codes))
	}
	if len(lines) == 0 {
		return ""
	}
	return "What costs most:\n" + strings.Join(lines, "\n")
}

// advice is what to do about it.
func (p planned) advice() string {
	o := p.present
	switch {
	case o.Pushes == 0:
		return "Nothing to do: no list changes. Is --additions, --presence or --change missing?"
	case o.Endless:
		return "More changes than the quota ever lets through: " + p.best()
	case o.Saturation.Whole == 0:
		return fmt.Sprintf("Nothing to do: the quota is enough; the busiest window takes %.1f %% of it.", 100*o.Busiest.Share())
	case o.Freshness.Max <= tolerable:
		return fmt.Sprintf("Nothing to do: the quota is enough; lists are late by %s at most.", shortTime(o.Freshness.Max))
	}
	return fmt.Sprintf("The quota is short for %s; lists are late by up to %s.\n%s", shortTime(o.Saturation.Whole), shortTime(o.Freshness.Max), p.best())
}

// tolerable is how late lists may be without anything to be done.
const tolerable = time.Minute

// best names the remedy that helps most.
func (p planned) best() string {
	if len(p.remedies) == 0 {
		return "Nothing that is known here helps, and a tenant's quota cannot be bought: spread what happens at once."
	}
	best := p.remedies[0]
	o := best.Outcome
	return fmt.Sprintf("What helps most: %s. Then 95 %% of lists are late by %s at most, not %s; %d pushes, not %d.",
		best.What, shortTime(o.Freshness.P95), shortTime(p.present.Freshness.P95), o.Pushes, p.present.Pushes)
}

// print shows what all tenants come to.
func (a plannedAll) print(w io.Writer, world plan.WhatIf) error {
	header := []any{"", "as it is"}
	if a.other != nil {
		header = append(header, a.whatIf)
	}
	t := newTable(header...)
	row := func(what string, of func(*plan.Sum, plan.Budget) string) {
		cells := table.Row{what, of(&a.present, a.budget)}
		if a.other != nil {
			cells = append(cells, of(a.other, world.Budget(a.budget)))
		}
		t.AppendRow(cells)
	}
	count := func(of func(*plan.Sum) int) func(*plan.Sum, plan.Budget) string {
		return func(s *plan.Sum, _ plan.Budget) string { return fmt.Sprint(of(s)) }
	}
	row("tenants", count(func(s *plan.Sum) int { return s.Tenants }))
	row("codes", count(func(s *plan.Sum) int { return s.Codes }))
	row("additions", count(func(s *plan.Sum) int { return s.Additions }))
	row("events", count(func(s *plan.Sum) int { return s.Events }))
	row("lists that change", count(func(s *plan.Sum) int { return s.Changes }))
	row("pushes", count(func(s *plan.Sum) int { return s.Pushes }))
	row("tenants whose own quota is used up", count(func(s *plan.Sum) int { return s.Short }))
	row("the address's quota is used up", a.addressText)
	parts := []string{"From " + a.start.Format("2006-01-02 15:04 MST") + ", all tenants at one address:", t.Render()}
	for _, o := range a.present.Dearest[:min(costsShown, len(a.present.Dearest))] {
		parts = append(parts, fmt.Sprintf("  %s: %d pushes, %d codes; \"rollcall plan --tenant %s\" has more", o.Tenant, o.Pushes, o.Codes, o.Tenant))
	}
	return say(w, strings.Join(append(parts, a.advice()), "\n"))
}

func (a plannedAll) addressText(s *plan.Sum, b plan.Budget) string {
	sat := s.AtAddress(b)
	if sat.Whole == 0 {
		return "never"
	}
	return fmt.Sprintf("at %s for %s, %d codes at most", a.start.Add(sat.From).Format("15:04"), shortTime(sat.Whole), sat.Peak)
}

func (a plannedAll) advice() string {
	var text string
	switch sat := a.present.AtAddress(a.budget); {
	case a.present.Tenants == 0:
		return "There is no tenant."
	case sat.Whole > 0:
		_, rate := a.budget.Rates()
		text = fmt.Sprintf("The address is short for %s: another egress address adds %.0f calls a second.", shortTime(sat.Whole), rate)
	case a.present.Short > 0:
		text = fmt.Sprintf("The address is enough; %s of its own quota: look at each with --tenant.", strings.Replace(many(a.present.Short, "tenant"), "tenants", "tenants are short", 1))
	default:
		text = "Nothing to do: the quotas are enough."
	}
	if !a.whole {
		text += " Not all tenants were read: --most-codes was reached, and the sums are of those that were."
	}
	return text
}
