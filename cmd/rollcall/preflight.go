package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/ident"
	"github.com/rollcall-dev/rollcall/internal/preflight"
	"github.com/rollcall-dev/rollcall/internal/service"
)

const (
	outputText = "text"
	// mendTimeout bounds one mending: indexes of large collections take minutes.
	mendTimeout = 30 * time.Minute
)

// preflightOrder is what is asked on the command line.
type preflightOrder struct {
	fix        bool
	tenant     string
	partitions int
	timeout    time.Duration
	output     string
}

func newPreflightCommand() *cobra.Command {
	o := preflightOrder{timeout: 10 * time.Second, output: outputText}
	cmd := &cobra.Command{
		Use:     "preflight",
		GroupID: groupOperator,
		Short:   "Look at all that Rollcall stands on, and say what has to be done",
		Long: `Looks at the broker, MongoDB, Redis, WeCom and the configuration, and says of each what
was found and what to do about it (docs/operations/preflight.md). Nothing is changed but
for a document and some keys of its own, which it removes or which expire.

With --fix it makes what is missing: the topic, the subscription, the dead-letter topic
and the indexes. It alters nothing that is there.

It ends with 0 when nothing failed (warnings count as that), 1 when a check failed, and 2
when the command line or the configuration is wrong.`,
		Example: `  rollcall preflight
  rollcall preflight --fix --partitions 8
  rollcall preflight --tenant acme -o json`,
		Args:    cobra.NoArgs,
		PreRunE: func(cmd *cobra.Command, _ []string) error { return o.check(cmd) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.Load(config.NeedPulsar, config.NeedMongoDB, config.NeedRedis)
			if err != nil {
				return err
			}
			results := service.Preflight(cmd.Context(), cfg, o.options(config.Warnings(os.Environ())))
			if o.output == outputJSON {
				err = printJSON(cmd.OutOrStdout(), preflightJSON(results))
			} else {
				err = printPreflight(cmd.OutOrStdout(), results)
			}
			if failed := preflight.Tally(results)[preflight.Fail]; err == nil && failed > 0 {
				err = fmt.Errorf("%d checks failed", failed)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&o.fix, "fix", false, "make topic, subscription, dead-letter topic and indexes that are missing")
	cmd.Flags().StringVar(&o.tenant, "tenant", "", "try this tenant's credentials at WeCom, and look at its callback settings")
	cmd.Flags().IntVar(&o.partitions, "partitions", 0, "how many partitions the topic should have; 0: more than one, and 4 if it is made")
	cmd.Flags().DurationVar(&o.timeout, "timeout", o.timeout, "longest wait for one check")
	cmd.Flags().StringVarP(&o.output, "output", "o", o.output, "text, or json for programs")
	return cmd
}

func (o preflightOrder) check(cmd *cobra.Command) error {
	switch {
	case o.output != outputText && o.output != outputJSON:
		return unknownName("output", o.output, cmd.CommandPath(), []string{outputText, outputJSON})
	case o.tenant != "" && !ident.Tenant(o.tenant):
		return fmt.Errorf("--tenant %q cannot be a tenant's ID", o.tenant)
	case o.partitions < 0 || o.partitions > 1024:
		return fmt.Errorf("--partitions is %d; want 0 to 1024", o.partitions)
	case o.timeout < 100*time.Millisecond || o.timeout > 5*time.Minute:
		return fmt.Errorf("--timeout is %s; want 100ms to 5m", o.timeout)
	}
	return nil
}

func (o preflightOrder) options(unknown []string) service.PreflightOptions {
	options := service.PreflightOptions{Tenant: o.tenant, Partitions: o.partitions, Unknown: unknown, Timeout: o.timeout}
	if o.fix {
		options.MendTimeout = mendTimeout
	}
	return options
}

// shownResult is a result as JSON.
type shownResult struct {
	Check   string            `json:"check"`
	Verdict preflight.Verdict `json:"verdict"`
	Found   string            `json:"found"`
	Remedy  string            `json:"remedy,omitempty"`
	Did     string            `json:"did,omitempty"`
	TookMS  int64             `json:"took_ms"`
}

// shownPreflight is the whole as JSON: the worst verdict, and how many there are
// of each.
type shownPreflight struct {
	Verdict preflight.Verdict         `json:"verdict"`
	Counts  map[preflight.Verdict]int `json:"counts"`
	Checks  []shownResult             `json:"checks"`
}

func preflightJSON(results []preflight.Result) shownPreflight {
	shown := shownPreflight{Counts: preflight.Tally(results), Verdict: preflight.OK, Checks: []shownResult{}}
	for _, v := range []preflight.Verdict{preflight.Warn, preflight.Fail} {
		if shown.Counts[v] > 0 {
			shown.Verdict = v
		}
	}
	for _, r := range results {
		shown.Checks = append(shown.Checks, shownResult{r.Name, r.Verdict, r.Found, r.Remedy, r.Did, r.Took.Milliseconds()})
	}
	return shown
}

// Widths of the last columns, which keep a row on one screen.
const (
	foundWidth  = 52
	remedyWidth = 36
)

func printPreflight(w io.Writer, results []preflight.Result) error {
	t := newTable("check", "", "found", "what to do")
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 3, WidthMax: foundWidth, WidthMaxEnforcer: wrapWords},
		{Number: 4, WidthMax: remedyWidth, WidthMaxEnforcer: wrapWords},
	})
	part := ""
	for _, r := range results {
		now, _, _ := strings.Cut(r.Name, ".")
		if part != "" && now != part {
			t.AppendSeparator()
		}
		part = now
		found := plain(r.Found)
		if r.Did != "" {
			found = "FIXED: " + r.Did + ". Now: " + found
		}
		t.AppendRow(table.Row{r.Name, string(r.Verdict), found, plain(r.Remedy)})
	}
	counts := preflight.Tally(results)
	return say(w, fmt.Sprintf("%s\n%d ok, %d warnings, %d failed, %d skipped", t.Render(),
		counts[preflight.OK], counts[preflight.Warn], counts[preflight.Fail], counts[preflight.Skip]))
}
