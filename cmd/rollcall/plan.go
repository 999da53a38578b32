package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/service"
)

// planOrder is what a plan is asked for.
type planOrder struct {
	tenant, from, additions, presence, whatIf, output string
	peaks, changes                                    []string
	length                                            time.Duration
	mostCodes                                         int
	fleet                                             service.PlanFleet
}

func newPlanCommand() *cobra.Command {
	o := planOrder{from: "tomorrow", length: 24 * time.Hour, mostCodes: 1_000_000, fleet: service.PlanFleet{Ingresses: 2, Refreshers: 2}}
	cmd := &cobra.Command{
		Use:     "plan",
		GroupID: groupOperator,
		Short:   "Compute whether WeCom's quota will do, and what would help",
		Long: `Reads who sits on which codes, with their ceilings, shifts and lanes, and computes what
a day costs in calls to WeCom: events, pushes by hour, when the budget is used up, how
long the codes that wait take then, and what would help. It writes nothing.

Without --additions the codes have as many as in the last days. Without --tenant all
tenants are computed, and what they come to at the address that they share.`,
		Example: `  rollcall plan --tenant acme
  rollcall plan --tenant acme --additions 20000/day --peak 30%@20:00
  rollcall plan --tenant acme --change off@18:00/10m --change on@9:00
  rollcall plan --tenant acme --additions 20000/day --what-if ceilings=x0.5,slow=50%
  rollcall plan --what-if additions=x3 -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(checkOutput(cmd, o.output), o.check(time.Now())); err != nil {
				return err
			}
			cfg, err := loadConfig(cmd, config.NeedMongoDB)
			if err != nil {
				return err
			}
			return planDays(cmd, cfg, o)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *planOrder) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.tenant, "tenant", "", "one tenant; without it all of them")
	flags.StringVar(&o.from, "from", o.from, `when it begins: tomorrow (midnight), now, or a day, 2026-12-24`)
	flags.DurationVar(&o.length, "for", o.length, "how long it lasts, 1s to 168h")
	flags.StringVar(&o.additions, "additions", "", "additions to expect: 20000/day, 300/hour, 50/10m")
	flags.StringArrayVar(&o.peaks, "peak", nil, "a part of them that comes in an hour, 30%@20:00, or in another time, 30%@20:00/30m")
	flags.StringVar(&o.presence, "presence", "", "how often each person comes or goes by hand: 4/day")
	flags.StringArrayVar(&o.changes, "change", nil, "who comes or goes when: off@18:00 (everybody), off@18:00/10m, amy,bob:on@9:00, -amy:off@18:00")
	flags.StringVar(&o.whatIf, "what-if", "", "another world beside the present: additions=x3, codes=x2, quota=x2, ceilings=x0.5, slow=50%")
	flags.IntVar(&o.fleet.Ingresses, "ingresses", o.fleet.Ingresses, "ingresses that run")
	flags.IntVar(&o.fleet.Refreshers, "refreshers", o.fleet.Refreshers, "refreshers that run")
	flags.IntVar(&o.mostCodes, "most-codes", o.mostCodes, "without --tenant: begin no further tenant after so many codes")
	addOutput(cmd, &o.output)
}

// check tells of what makes no sense whatever the facts are.
func (o *planOrder) check(now time.Time) error {
	_, err := o.campaign(now, time.UTC)
	if o.fleet.Ingresses < 1 || o.fleet.Refreshers < 1 || o.mostCodes < 1 {
		err = errors.Join(err, errors.New("--ingresses, --refreshers and --most-codes are 1 or more"))
	}
	if o.tenant == "" && (len(o.changes) > 0 || o.additions != "") {
		err = errors.Join(err, errors.New("--additions and --change are about one tenant: name it with --tenant; for all of them there is --what-if additions=x3"))
	}
	_, whatIfErr := o.otherWorld()
	return errors.Join(err, whatIfErr)
}

func (o *planOrder) otherWorld() (plan.WhatIf, error) {
	if o.whatIf == "" {
		return plan.Present(), nil
	}
	w, err := plan.ParseWhatIf(o.whatIf)
	if err != nil {
		return w, fmt.Errorf("--what-if: %w", err)
	}
	return w, nil
}

// campaign is what is to come, by the clocks of a zone.
func (o *planOrder) campaign(now time.Time, zone *time.Location) (plan.Campaign, error) {
	start, err := startOf(o.from, now.In(zone))
	c := plan.Campaign{Start: start, Length: o.length, Additions: -1}
	failed := []error{err}
	if o.additions != "" {
		c.Additions, err = plan.ParseRate(o.additions, o.length)
		failed = append(failed, named("--additions", err))
	}
	if o.presence != "" {
		c.ChangesEach, err = plan.ParseRate(o.presence, 24*time.Hour)
		failed = append(failed, named("--presence", err))
	}
	for _, text := range o.peaks {
		peak, err := plan.ParsePeak(text, start)
		c.Peaks = append(c.Peaks, peak)
		failed = append(failed, named("--peak", err))
	}
	for _, text := range o.changes {
		change, err := plan.ParseChange(text, start)
		c.Changes = append(c.Changes, change)
		failed = append(failed, named("--change", err))
	}
	return c, errors.Join(failed...)
}

func named(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flag, err)
}

// startOf reads when a campaign begins, by the clock that now shows.
func startOf(text string, now time.Time) (time.Time, error) {
	switch text {
	case "now":
		return now, nil
	case "tomorrow":
		return time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, now.Location()), nil
	}
	day, err := time.ParseInLocation(time.DateOnly, text, now.Location())
	if err != nil || day.Before(now) {
		return time.Time{}, fmt.Errorf("--from: %q is no day to come; want tomorrow, now, or one like 2026-12-24", text)
	}
	return day, nil
}

func planDays(cmd *cobra.Command, cfg config.Config, o planOrder) error {
	planner, err := service.OpenPlanner(cfg)
	if err != nil {
		return err
	}
	defer func() { _ = planner.Close(context.WithoutCancel(cmd.Context())) }() // the process ends with the command
	if o.tenant == "" {
		return planAll(cmd, planner, o)
	}
	in, err := planner.Gather(cmd.Context(), o.tenant, o.fleet)
	if errors.Is(err, plan.ErrUnknownTenant) {
		return fmt.Errorf("there is no tenant %s", o.tenant)
	}
	if err != nil {
		return err
	}
	if in.Campaign, err = o.campaign(time.Now(), in.Company.Zone); err != nil {
		return err
	}
	answer, err := planOne(in, o)
	if err != nil {
		return err
	}
	if o.output == outputJSON {
		return printJSON(cmd.OutOrStdout(), answer.json())
	}
	return answer.print(cmd.OutOrStdout())
}

// planned is the answer about one tenant.
type planned struct {
	in       plan.Input
	present  plan.Outcome
	whatIf   string        // "": none
	other    *plan.Outcome // beside the present
	remedies []plan.Remedy
}

func planOne(in plan.Input, o planOrder) (planned, error) {
	answer := planned{in: in, whatIf: o.whatIf}
	var err error
	if answer.present, err = plan.Play(in); err != nil {
		return answer, err
	}
	if o.whatIf != "" {
		world, err := o.otherWorld()
		if err != nil {
			return answer, err
		}
		other, err := plan.Play(world.Applied(in))
		if err != nil {
			return answer, fmt.Errorf("--what-if %s: %w", o.whatIf, err)
		}
		answer.other = &other
	}
	if answer.present.Saturation.Whole > 0 {
		answer.remedies, err = plan.Remedies(in, answer.present)
	}
	return answer, err
}

// plannedAll is the answer about all tenants.
type plannedAll struct {
	budget  plan.Budget
	start   time.Time
	present plan.Sum
	whatIf  string
	other   *plan.Sum
	whole   bool // no tenant is left out
}

func planAll(cmd *cobra.Command, planner *service.Planner, o planOrder) error {
	zone, err := (&roster.Tenant{}).Location()
	if err != nil {
		return err
	}
	campaign, err := o.campaign(time.Now(), zone)
	if err != nil {
		return err
	}
	world, err := o.otherWorld()
	if err != nil {
		return err
	}
	answer := plannedAll{start: campaign.Start, whatIf: o.whatIf}
	if o.whatIf != "" {
		answer.other = &plan.Sum{}
	}
	_, answer.whole, err = planner.Each(cmd.Context(), o.fleet, o.mostCodes, func(in plan.Input) error {
		in.Campaign, answer.budget = campaign, in.Budget
		return answer.add(in, world)
	})
	if err != nil {
		return err
	}
	if o.output == outputJSON {
		return printJSON(cmd.OutOrStdout(), answer.json(world))
	}
	return answer.print(cmd.OutOrStdout(), world)
}

func (a *plannedAll) add(in plan.Input, world plan.WhatIf) error {
	out, err := plan.Play(in)
	if err != nil {
		return fmt.Errorf("tenant %s: %w", in.Company.Tenant, err)
	}
	a.present.Add(out)
	if a.other == nil {
		return nil
	}
	if out, err = plan.Play(world.Applied(in)); err != nil {
		return fmt.Errorf("tenant %s, --what-if %s: %w", in.Company.Tenant, a.whatIf, err)
	}
	a.other.Add(out)
	return nil
}
