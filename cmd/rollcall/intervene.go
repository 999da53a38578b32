package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/intervene"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/service"
)

// intervention is a command line that steps in.
type intervention struct {
	order   intervene.Order // its Kind is that of the arguments
	name    string
	lasts   time.Duration // of a hold or a suspension
	until   string
	dryRun  bool
	now     func() time.Time
	command *cobra.Command
}

// The ways in which a subject is named, for the help.
const subjects = `A code is named by its ID or as TENANT/CODE, a staff member as TENANT/STAFF.`

func newRefreshCommand() *cobra.Command {
	i := newIntervention(decision.Refresh, &cobra.Command{
		Use:   "refresh {code|staff|tenant} NAME",
		Short: "Recompute a code, or all codes of a staff member or a tenant",
		Long: `Has lists recomputed from the facts as they are now. A list that is right is not pushed
again; with --repush it is, whatever is known of it, which costs a call for each code and
mends what somebody else changed at WeCom. ` + subjects,
		Example: `  rollcall refresh code spring-sale --reason "the ticket of Ms Li"
  rollcall refresh staff acme/li.na --reason "her schedule was mended by hand"
  rollcall refresh tenant acme --repush --reason "lists were edited in WeCom's console"`,
	})
	i.command.Flags().BoolVar(&i.order.Repush, "repush", false, "push each list, also one that is known to be right")
	return i.finish(2)
}

func newHoldCommand() *cobra.Command {
	i := newIntervention(decision.Hold, &cobra.Command{
		Use:   "hold {code|tenant} NAME",
		Short: "Keep a code's list at WeCom, or all of a tenant's, as it is",
		Long: `Nothing is pushed until the hold ends or is released; what the facts ask for meanwhile is
pushed then. Rotation sets of landing pages go on following the facts. Nobody leaves a
list meanwhile, so whoever goes off line or reaches his ceiling goes on being reached:
where that is so, the hold is refused unless --yes insists. ` + subjects,
		Example: `  rollcall hold code acme/spring-sale --for 2h --reason "compared with WeCom by hand"
  rollcall hold tenant acme --for 30m --yes --reason "incident 42"`,
	})
	i.addEnd()
	return i.finish(2)
}

func newSuspendCommand() *cobra.Command {
	i := newIntervention(decision.Suspend, &cobra.Command{
		Use:   "suspend staff TENANT/STAFF",
		Short: "Take a staff member off every list",
		Long: `Every code of his is recomputed without him, whatever his presence and schedule say,
until the suspension ends or is released. Refused, unless --yes insists, when a code
would be left with nobody.`,
		Example: `  rollcall suspend staff acme/li.na --for 24h --reason "complaints, ticket 17"`,
	})
	i.addEnd()
	return i.finish(2)
}

func newReleaseCommand() *cobra.Command {
	i := newIntervention(decision.Release, &cobra.Command{
		Use:   "release {code|staff|tenant} NAME",
		Short: "End what stops a code, a staff member or a tenant",
		Long: `Ends a hold or a suspension by an operator, and what WeCom's refusals have led to: a
code's backoff, a staff member's quarantine, a tenant's suspension for refused
credentials. The codes are recomputed. If WeCom still refuses, it begins again. ` + subjects,
		Example: `  rollcall release code spring-sale --reason "compared, it is right"
  rollcall release staff acme/li.na --reason "WeCom knows her now"
  rollcall release tenant acme --reason "the secret is a new one"`,
	})
	return i.finish(2)
}

func newLaneCommand() *cobra.Command {
	i := newIntervention(decision.SetLane, &cobra.Command{
		Use:   "lane {code|tenant} NAME {fast|slow|auto}",
		Short: "Have a code's, or a tenant's, changes pushed at once or now and then",
		Long: `fast pushes every change at once, slow at most once in ROLLCALL_REFRESHER_SLOW_INTERVAL,
auto follows the rules. A code's own lane comes before its tenant's. In the slow lane
whoever has to leave a list stays on it for up to the interval, so it is refused unless
--yes insists. ` + subjects,
		Example: `  rollcall lane code spring-sale fast --reason "the campaign of today"
  rollcall lane tenant acme auto --reason "the campaign is over"`,
	})
	return i.finish(3)
}

func newIntervention(action decision.Action, cmd *cobra.Command) *intervention {
	return &intervention{order: intervene.Order{Action: action}, now: time.Now, command: cmd}
}

// addEnd is for what ends by itself.
func (i *intervention) addEnd() {
	flags := i.command.Flags()
	flags.DurationVar(&i.lasts, "for", 0, "how long, such as 90m; without an end it lasts until it is released")
	flags.StringVar(&i.until, "until", "", "when it ends, such as 2026-11-30T18:00:00+08:00")
	i.command.MarkFlagsMutuallyExclusive("for", "until")
}

// finish gives the command what all of them have.
func (i *intervention) finish(args int) *cobra.Command {
	cmd := i.command
	cmd.GroupID = groupOperator
	cmd.Args = cobra.ExactArgs(args)
	cmd.Flags().StringVar(&i.order.Why, "reason", "", "why, for the record (required)")
	addByFlag(cmd, &i.order.By)
	cmd.Flags().BoolVar(&i.order.Insist, "yes", false, "do it although it does harm")
	cmd.Flags().BoolVar(&i.dryRun, "dry-run", false, "only say what it would do")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := i.read(args); err != nil {
			return err
		}
		cfg, err := loadConfig(cmd, config.NeedMongoDB, config.NeedRedis, config.NeedPulsar)
		if err != nil {
			return err
		}
		return i.run(cmd, cfg)
	}
	return cmd
}

// read takes in the arguments and the flags that are not the order's own words.
func (i *intervention) read(args []string) error {
	i.order.Kind, i.name = intervene.Kind(args[0]), args[1]
	switch i.order.Kind {
	case intervene.Code, intervene.Staff, intervene.Tenant:
	default:
		return fmt.Errorf("%q is no kind of subject; want code, staff or tenant", args[0])
	}
	if strings.TrimSpace(i.order.Why) == "" {
		return errors.New("an order is recorded with its reason; say why: --reason TEXT")
	}
	if len(args) > 2 {
		lane, err := laneNamed(args[2])
		if err != nil {
			return err
		}
		i.order.Lane = lane
	}
	var err error
	if i.order.By, err = decider(i.order.By); err != nil {
		return err
	}
	if err := i.readEnd(); err != nil {
		return err
	}
	if err := i.order.Check(i.now()); err != nil {
		return i.named(err)
	}
	return nil
}

func laneNamed(word string) (roster.LaneSwitch, error) {
	switch word {
	case "fast", "slow":
		return roster.LaneSwitch(word), nil
	case "auto":
		return roster.LaneAuto, nil
	}
	return "", fmt.Errorf("%q is no lane; want fast, slow or auto", word)
}

// readEnd takes an end that is given and is none, such as that of an empty
// variable, for a mistake: what has no end lasts until somebody releases it.
func (i *intervention) readEnd() error {
	given := i.command.Flags().Changed
	switch {
	case i.lasts < 0, i.lasts == 0 && given("for"):
		return fmt.Errorf("--for is %s; want how long it lasts, such as 90m", i.lasts)
	case i.lasts > 0:
		i.order.Until = i.now().Add(i.lasts)
	case i.until != "" || given("until"):
		at, ok := clockTime(i.until, time.Local)
		if !ok {
			return fmt.Errorf("--until %q is no time; want one like 2026-11-30T18:00:00+08:00, or \"2026-11-30 18:00\" (the clock of this system)", i.until)
		}
		i.order.Until = at
	}
	return nil
}

func (i *intervention) run(cmd *cobra.Command, cfg config.Config) error {
	ctx := cmd.Context()
	return service.AtInterventionDesk(ctx, cfg, func(desk service.InterventionDesk) error {
		subject, err := desk.Find(ctx, i.order.Kind, i.name)
		if err != nil {
			return i.named(err)
		}
		i.order.Subject = subject
		if i.dryRun {
			weighed, err := desk.Weigh(ctx, i.order)
			if err != nil {
				return i.named(err)
			}
			return printWeighed(cmd.OutOrStdout(), i.order, weighed)
		}
		done, err := desk.Carry(ctx, i.order)
		if err != nil {
			return i.named(err)
		}
		return printDone(cmd.OutOrStdout(), i.order, done)
	})
}

// named adds to an error what it is about, and what would be right.
func (i *intervention) named(err error) error {
	what := string(i.order.Kind) + " " + i.name
	if harm, ok := errors.AsType[*intervene.HarmError](err); ok {
		return fmt.Errorf("%s %s: %w\nTo do it all the same: --yes", i.order.Action, what, harm)
	}
	for _, unknown := range []error{registry.ErrUnknownCode, registry.ErrUnknownStaff, registry.ErrUnknownTenant} {
		if errors.Is(err, unknown) {
			return fmt.Errorf("%s %s: %w", i.order.Action, what, unknown)
		}
	}
	return fmt.Errorf("%s %s: %w", i.order.Action, what, err)
}

func printWeighed(w io.Writer, o intervene.Order, weighed intervene.Weighed) error {
	lines := []string{fmt.Sprintf("%s %s would mean:", o.Action, o.Subject)}
	lines = append(lines, points(weighed.Effect, "  ")...)
	if len(weighed.Harm) > 0 {
		lines = append(lines, "against it:")
		lines = append(lines, points(weighed.Harm, "  ")...)
	}
	return say(w, strings.Join(append(lines, "Nothing was done."), "\n"))
}

func printDone(w io.Writer, o intervene.Order, done intervene.Done) error {
	lines := []string{fmt.Sprintf("%s %s:", o.Action, o.Subject)}
	lines = append(lines, points(done.Effect, "  ")...)
	switch done.Published {
	case registry.ByFanOut:
		lines = append(lines, "  under way: rollcall fanouts --tenant "+o.Tenant)
	case registry.InDirtySet:
		lines = append(lines, "  the broker is away: the keeper brings the code back")
	case registry.OnBroker, registry.Nowhere:
	}
	return say(w, strings.Join(append(lines, "Done, and recorded as decided by "+o.By+"."), "\n"))
}

func points(all []intervene.Point, indent string) []string {
	lines := make([]string, len(all))
	for i, p := range all {
		lines[i] = indent + p.String()
	}
	return lines
}
