package main

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/backstop/spot"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/service"
)

// maxSpotDays is how far back an estimate goes: days are kept a little longer.
const maxSpotDays = 366

func newSpotCommand() *cobra.Command {
	var tenant, output string
	days := 7
	cmd := &cobra.Command{
		Use:     "spot",
		GroupID: groupOperator,
		Short:   "Estimate how many codes hold something else at WeCom than Rollcall left there",
		Long: `Shows what the spot check measured: of the codes that it compared with WeCom, how many
differed, and between which shares the true one lies at 95 %, for each tenant and over
all. Skipped codes were not looked at, since no vendor budget was spare; unsettled ones
had a push under way (docs/backstop.md).`,
		Example: `  rollcall spot
  rollcall spot --days 30 --tenant acme
  rollcall spot -o json
  rollcall spot differences --state open`,
		Args: knownSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if days < 1 || days > maxSpotDays {
				return fmt.Errorf("--days is %d; want 1 to %d", days, maxSpotDays)
			}
			if err := checkOutput(cmd, output); err != nil {
				return err
			}
			cfg, err := loadConfig(cmd, config.NeedMongoDB)
			if err != nil {
				return err
			}
			tallies, err := service.TallySpots(cmd.Context(), cfg, tenant, days, time.Now())
			if err != nil {
				return fmt.Errorf("read what the spot check counted: %w", err)
			}
			if output == outputJSON {
				return printJSON(cmd.OutOrStdout(), estimatesOf(tallies, days))
			}
			return printEstimates(cmd.OutOrStdout(), estimatesOf(tallies, days))
		},
	}
	cmd.Flags().StringVar(&tenant, "tenant", "", "show one tenant")
	cmd.Flags().IntVar(&days, "days", days, "how many days (UTC) to go back, today included")
	addOutput(cmd, &output)
	cmd.AddCommand(newSpotDifferencesCommand())
	return cmd
}

// The forms of a listing.
const (
	outputTable = "table"
	outputJSON  = "json"
)

func addOutput(cmd *cobra.Command, output *string) {
	cmd.Flags().StringVarP(output, "output", "o", outputTable, "table, or json for programs")
}

func checkOutput(cmd *cobra.Command, output string) error {
	if output != outputTable && output != outputJSON {
		return unknownName("output", output, cmd.CommandPath(), []string{outputTable, outputJSON})
	}
	return nil
}

func printJSON(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(value)
}

// estimates are the answer of rollcall spot. The names are those of its JSON.
type estimates struct {
	Days    int              `json:"days"`
	Overall tenantEstimate   `json:"overall"`
	Tenants []tenantEstimate `json:"tenants"`
}

type tenantEstimate struct {
	Tenant    string  `json:"tenant,omitempty"`
	Checked   int64   `json:"checked"`
	Differ    int64   `json:"differ"`
	Rate      float64 `json:"rate"` // shares from 0 to 1, as are the next two
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Skipped   int64   `json:"skipped"`
	Unsettled int64   `json:"unsettled"`
}

func estimatesOf(tallies map[string]spot.Tally, days int) estimates {
	all := estimates{Days: days, Tenants: []tenantEstimate{}}
	var total spot.Tally
	for _, tenant := range slices.Sorted(maps.Keys(tallies)) {
		all.Tenants = append(all.Tenants, tenantEstimateOf(tenant, tallies[tenant]))
		total = total.Plus(tallies[tenant])
	}
	all.Overall = tenantEstimateOf("", total)
	return all
}

func tenantEstimateOf(tenant string, tally spot.Tally) tenantEstimate {
	e := tally.Estimate()
	return tenantEstimate{
		Tenant: tenant, Checked: e.Checked, Differ: e.Differ, Rate: e.Rate, Low: e.Low, High: e.High,
		Skipped: e.Skipped, Unsettled: e.Unsettled,
	}
}

func printEstimates(w io.Writer, all estimates) error {
	if len(all.Tenants) == 0 {
		return say(w, fmt.Sprintf("The spot check looked at no code in %d days.", all.Days))
	}
	t := newTable("tenant", "checked", "differ", "rate", "95 % between", "skipped", "unsettled")
	for _, e := range all.Tenants {
		t.AppendRow(estimateRow(e.Tenant, e))
	}
	t.AppendSeparator()
	t.AppendRow(estimateRow("overall", all.Overall))
	return say(w, fmt.Sprintf("%s\n%d days; a code that was checked twice counts twice", t.Render(), all.Days))
}

func estimateRow(name string, e tenantEstimate) table.Row {
	rate := percent(e.Rate)
	if e.Checked == 0 {
		rate = "not known"
	}
	return table.Row{name, e.Checked, e.Differ, rate, percent(e.Low) + " and " + percent(e.High), e.Skipped, e.Unsettled}
}

func percent(share float64) string { return fmt.Sprintf("%.2f %%", 100*share) }

func newSpotDifferencesCommand() *cobra.Command {
	var tenant, state, output string
	limit := 1000
	cmd := &cobra.Command{
		Use:   "differences",
		Short: "List the codes that hold something else at WeCom, and since when",
		Long: `Lists what the spot check found: codes whose contact way at WeCom is not what Rollcall
left there. Who changed it WeCom does not say, only that it was not Rollcall. It was
ours at the time under "ours until", at least.

A difference is open (left to a person), repairing (the code is pushed again), reported
(found in shadow mode), or ended: repaired, or vanished without a repair.`,
		Example: `  rollcall spot differences
  rollcall spot differences --state open --tenant acme
  rollcall spot differences -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkLimit(limit); err != nil {
				return err
			}
			if err := checkOutput(cmd, output); err != nil {
				return err
			}
			which := spot.Selection{Tenant: tenant, State: spot.State(state)}
			if state != "" && !slices.Contains(spot.States(), which.State) {
				return unknownName("state", state, cmd.CommandPath(), differenceStates())
			}
			cfg, err := loadConfig(cmd, config.NeedMongoDB)
			if err != nil {
				return err
			}
			found := service.ListDifferences(cmd.Context(), cfg, which)
			if output == outputJSON {
				return printDifferencesJSON(cmd.OutOrStdout(), found, limit)
			}
			return printDifferences(cmd.OutOrStdout(), found, limit, time.Now())
		},
	}
	cmd.Flags().StringVar(&tenant, "tenant", "", "list those of one tenant")
	cmd.Flags().StringVar(&state, "state", "", "list those in one state: "+strings.Join(differenceStates(), ", "))
	cmd.Flags().IntVar(&limit, "limit", limit, "most differences to list")
	addOutput(cmd, &output)
	return cmd
}

func differenceStates() []string {
	names := make([]string, 0, len(spot.States()))
	for _, state := range spot.States() {
		names = append(names, string(state))
	}
	return names
}

func printDifferences(w io.Writer, found iter.Seq2[spot.Difference, error], limit int, now time.Time) error {
	t := newTable("tenant", "code", "cause", "state", "who", "ours", "theirs", "ours until", "seen", "times")
	n := 0
	for d, err := range found {
		if err != nil {
			return fmt.Errorf("list the differences: %w", err)
		}
		if n == limit {
			return say(w, fmt.Sprintf("%s\n%d listed, and there are more: see --limit, --tenant and --state", t.Render(), n))
		}
		n++
		t.AppendRow(table.Row{
			d.Tenant, d.Code, d.Cause, d.State, notOurs, shortened(oursOf(d)), shortened(theirsOf(d)),
			sinceOf(d, now), ago(now, d.LastSeen), d.Times,
		})
	}
	if n == 0 {
		return say(w, "There are no such differences.")
	}
	return say(w, fmt.Sprintf("%s\n%d listed", t.Render(), n))
}

// notOurs is all that can be said of who changed a contact way.
const notOurs = "not Rollcall"

func oursOf(d spot.Difference) string { return wayText(d.Ours, d.Cause) }

func theirsOf(d spot.Difference) string {
	if d.Cause == reason.Gone {
		return "no such contact way"
	}
	return wayText(d.Theirs, d.Cause)
}

// wayText shows what a cause is about.
func wayText(way spot.Way, cause reason.Reason) string {
	if cause == reason.AttributesDiffer {
		return fmt.Sprintf("remark %q, state %q, skip_verify %t", way.Remark, way.State, way.SkipVerify)
	}
	text := strings.Join(way.Users, ", ")
	if n := len(way.Departments); n > 0 {
		text = fmt.Sprintf("%d departments; %s", n, text)
	}
	return text
}

func sinceOf(d spot.Difference, now time.Time) string {
	if d.SinceAtLeast.IsZero() {
		return "not known"
	}
	return ago(now, d.SinceAtLeast)
}

// shownDifference is a difference in JSON.
type shownDifference struct {
	Tenant       string        `json:"tenant"`
	Code         string        `json:"code"`
	Cause        reason.Reason `json:"cause"`
	State        spot.State    `json:"state"`
	Who          string        `json:"who"`
	Ours         shownWay      `json:"ours"`
	Theirs       *shownWay     `json:"theirs"` // null: no such contact way
	SinceAtLeast *time.Time    `json:"since_at_least"`
	SeenAt       time.Time     `json:"seen_at"`
	LastSeen     time.Time     `json:"last_seen"`
	Times        int           `json:"times"`
	VendorCalls  int           `json:"vendor_calls"`
}

type shownWay struct {
	Users       []string `json:"users"`
	Departments []int64  `json:"departments,omitempty"`
	Remark      string   `json:"remark"`
	State       string   `json:"state"`
	SkipVerify  bool     `json:"skip_verify"`
}

// shownDifferences are the answer of rollcall spot differences in JSON.
type shownDifferences struct {
	Differences []shownDifference `json:"differences"`
	More        bool              `json:"more"` // than --limit
}

func printDifferencesJSON(w io.Writer, found iter.Seq2[spot.Difference, error], limit int) error {
	shown := shownDifferences{Differences: []shownDifference{}}
	for d, err := range found {
		if err != nil {
			return fmt.Errorf("list the differences: %w", err)
		}
		if shown.More = len(shown.Differences) == limit; shown.More {
			break
		}
		shown.Differences = append(shown.Differences, shownDifferenceOf(d))
	}
	return printJSON(w, shown)
}

func shownDifferenceOf(d spot.Difference) shownDifference {
	shown := shownDifference{
		Tenant: d.Tenant, Code: d.Code, Cause: d.Cause, State: d.State, Who: notOurs, Ours: shownWay(d.Ours),
		SeenAt: d.SeenAt, LastSeen: d.LastSeen, Times: d.Times, VendorCalls: d.VendorCalls,
	}
	if d.Cause != reason.Gone {
		theirs := shownWay(d.Theirs)
		shown.Theirs = &theirs
	}
	if !d.SinceAtLeast.IsZero() {
		shown.SinceAtLeast = &d.SinceAtLeast
	}
	return shown
}
