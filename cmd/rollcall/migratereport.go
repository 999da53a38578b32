package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/service"
	"github.com/rollcall-dev/rollcall/internal/shadow"
)

func newMigrateReportCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "report TENANT",
		Short: "Tell whether a tenant can move over from another system, and why not",
		Long: `In shadow mode Rollcall decides and the other system pushes. This tells how often and
why the two differ, and whether the tenant can move over (docs/shadow.md).

It ends with exit code 0 whatever it has to tell; scripts read "ready" of -o json.`,
		Example: `  rollcall migrate report acme
  rollcall migrate report acme -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(cmd, output); err != nil {
				return err
			}
			cfg, err := loadConfig(cmd, config.NeedMongoDB)
			if err != nil {
				return err
			}
			report, err := service.MigrationReport(cmd.Context(), cfg, args[0])
			if err != nil {
				return fmt.Errorf("report on tenant %s: %w", args[0], err)
			}
			if output == outputJSON {
				return printJSON(cmd.OutOrStdout(), report)
			}
			return printReadiness(cmd.OutOrStdout(), report)
		},
	}
	addOutput(cmd, &output)
	return cmd
}

// reportWidth is how wide the report's sentences are.
const reportWidth = 88

// printReadiness puts the answer first, then what it rests on.
func printReadiness(w io.Writer, r shadow.Readiness) error {
	parts := []string{
		wrapWords(r.Verdict, reportWidth) + bulleted(r.Because),
		"Codes\n" + codesTable(r.Codes),
		differencesOf(r),
		daysTable(r),
		neverReported(r),
		fmt.Sprintf("Tenant %s, as of %s; days are those of %s.", r.Tenant, r.At.Format(time.RFC3339), r.TimeZone),
	}
	var shown []string
	for _, part := range parts {
		if part != "" {
			shown = append(shown, part)
		}
	}
	return say(w, strings.Join(shown, "\n\n"))
}

func bulleted(sentences []string) string {
	var b strings.Builder
	for _, sentence := range sentences {
		b.WriteString("\n  - " + strings.ReplaceAll(wrapWords(sentence, reportWidth-4), "\n", "\n    "))
	}
	return b.String()
}

func codesTable(c shadow.Codes) string {
	t := newTable("", "codes")
	for _, row := range []struct {
		what string
		n    int
		from int // shown from this number on
	}{
		{"in shadow mode", c.InShadow, 0},
		{"  the two lists agree", c.Matching, 0},
		{"  the two lists differ", c.Mismatching, 0},
		{"  nobody is left, nothing to compare", c.NobodyLeft, 1},
		{"  not compared yet", c.InShadow - c.Compared, 0},
		{"    without a verdict of Rollcall's", c.InShadow - c.WithVerdict, 1},
		{"    without a report of the other system", c.InShadow - c.Reported, 1},
		{"    both sides are known and settle", c.Waiting, 1},
		{"  changed since they were compared", c.Settling, 1},
		{"written by Rollcall already", c.Live, 0},
		{"all", c.Total, 0},
	} {
		if row.n >= row.from {
			t.AppendRow(table.Row{row.what, row.n})
		}
	}
	return t.Render()
}

func differencesOf(r shadow.Readiness) string {
	if r.Codes.Mismatching == 0 {
		return ""
	}
	causes := newTable("codes", "cause", "the other system")
	for _, c := range r.Causes {
		causes.AppendRow(table.Row{c.Codes, c.String(), c.Text()})
	}
	examples := newTable("code", "differs for", "staff", "cause", "known by")
	for _, example := range r.Examples {
		for i, d := range example.Differences {
			if i == maxDifferences {
				examples.AppendRow(table.Row{"", "", fmt.Sprintf("and %d more", len(example.Differences)-i)})
				break
			}
			row := table.Row{"", "", d.Staff, d.String(), ""}
			if i == 0 {
				row[0], row[1], row[4] = example.Code, r.At.Sub(example.Since).Round(time.Second), example.Source
			}
			examples.AppendRow(row)
		}
	}
	title := "The codes whose lists differ"
	if len(r.Examples) < r.Codes.Mismatching {
		title = fmt.Sprintf("The codes whose lists have differed longest (%d of %d)", len(r.Examples), r.Codes.Mismatching)
	}
	return "Why lists differ now\n" + causes.Render() + "\n\n" + title + "\n" + examples.Render()
}

// maxDifferences is how many people of a code are shown; -o json has them all.
const maxDifferences = 5

func daysTable(r shadow.Readiness) string {
	t := newTable("day", "compared", "agreed", "differed", "still differed", "clean", "causes")
	row := func(name string, d shadow.Day) {
		t.AppendRow(table.Row{name, d.Compared, d.Matched, d.Mismatched, d.Standing, map[bool]string{true: "yes", false: "no"}[d.Clean], shortened(causesOf(d))})
	}
	row("today, so far", r.Today)
	for _, day := range r.Days {
		row(string(day.Day), day)
	}
	return fmt.Sprintf("Days: %d clean in a row up to yesterday, of %d that are needed\n%s", r.DaysClean, r.DaysNeeded, t.Render())
}

func causesOf(d shadow.Day) string {
	words := make([]string, len(d.Causes))
	for i, c := range d.Causes {
		words[i] = fmt.Sprintf("%s %d", c.Cause, c.Codes)
	}
	return strings.Join(words, ", ")
}

func neverReported(r shadow.Readiness) string {
	if len(r.NeverReported) == 0 {
		return ""
	}
	title := "Codes of which no list of the other system is known"
	if silent := r.Codes.InShadow - r.Codes.Reported; silent > len(r.NeverReported) {
		title += fmt.Sprintf(" (%d of %d)", len(r.NeverReported), silent)
	}
	return title + "\n" + wrapWords(strings.Join(r.NeverReported, ", "), reportWidth)
}
