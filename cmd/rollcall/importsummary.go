package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/rollcall-dev/rollcall/internal/adoption"
)

// shownLeft is how many contact ways that did not become codes are shown as text.
const shownLeft = 20

// importSummary is an import as JSON.
type importSummary struct {
	Tenant   string               `json:"tenant"`
	Run      string               `json:"run"`
	State    adoption.State       `json:"state"`
	Running  bool                 `json:"running"` // a process is at it
	By       string               `json:"by,omitempty"`
	Listed   int                  `json:"listed"`
	Done     int                  `json:"done"`
	Imported int                  `json:"imported"`
	Held     int                  `json:"held"`
	Skipped  map[adoption.Why]int `json:"skipped"`
	Failed   map[adoption.Why]int `json:"failed"`
	Started  time.Time            `json:"started"`
	Updated  time.Time            `json:"updated"`
	Finished time.Time            `json:"finished,omitzero"`
	Left     []importLeft         `json:"left"`
}

type importLeft struct {
	ConfigID string       `json:"config_id"`
	Why      adoption.Why `json:"why"`
	Detail   string       `json:"detail,omitempty"`
}

func printImport(w io.Writer, output string, job adoption.Job, left []adoption.Left, now time.Time) error {
	if output == outputJSON {
		return printImportJSON(w, job, left, now)
	}
	text := fmt.Sprintf("import of %s: %s\n  listed    %d\n  done      %d\n  imported  %d\n  held      %d\n  skipped   %s\n  failed    %s",
		job.Tenant, importState(job, now), job.Listed, job.Done, job.Imported, job.Held, counted(job.Skipped), counted(job.Failed))
	if len(left) > 0 {
		text += "\n" + leftTable(left)
	}
	return say(w, text)
}

func printImportJSON(w io.Writer, job adoption.Job, left []adoption.Left, now time.Time) error {
	summary := importSummary{
		Tenant: job.Tenant, Run: job.Run, State: job.State, Running: job.Running(now), Listed: job.Listed, Done: job.Done,
		Imported: job.Imported, Held: job.Held, Skipped: orEmpty(job.Skipped), Failed: orEmpty(job.Failed),
		Started: job.Started, Updated: job.Updated, Finished: job.Finished, Left: []importLeft{},
	}
	if summary.Running {
		summary.By = job.Claim.Owner
	}
	for _, one := range left {
		summary.Left = append(summary.Left, importLeft{one.ConfigID, one.Why, one.Detail})
	}
	return printJSON(w, summary)
}

func orEmpty(counts map[adoption.Why]int) map[adoption.Why]int {
	if counts == nil {
		return map[adoption.Why]int{}
	}
	return counts
}

func importState(job adoption.Job, now time.Time) string {
	switch {
	case job.State == adoption.Done:
		return fmt.Sprintf("done %s, in %s", ago(now, job.Finished), job.Finished.Sub(job.Started).Round(time.Second))
	case job.Running(now):
		return fmt.Sprintf("%s, by %s", job.State, job.Claim.Owner)
	}
	return fmt.Sprintf("stopped %s while %s; go on with: rollcall migrate import %s", ago(now, job.Updated), job.State, job.Tenant)
}

// counted tells a sum and its parts.
func counted(counts map[adoption.Why]int) string {
	total := 0
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(counts)) {
		total += counts[why]
		parts = append(parts, fmt.Sprintf("%d %s", counts[why], why))
	}
	if total == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%s)", total, strings.Join(parts, ", "))
}

func leftTable(left []adoption.Left) string {
	// Failures first: a person has to look at them.
	left = slices.Clone(left)
	slices.SortStableFunc(left, func(a, b adoption.Left) int { return rank(a) - rank(b) })
	t := newTable("contact way", "why it is no code", "detail")
	for _, one := range left[:min(len(left), shownLeft)] {
		t.AppendRow(table.Row{one.ConfigID, one.Why, shortened(one.Detail)})
	}
	text := t.Render()
	if more := len(left) - shownLeft; more > 0 {
		text += fmt.Sprintf("\nand %d more; --status -o json tells all", more)
	}
	return text
}

func rank(one adoption.Left) int {
	if one.Why.Failure() {
		return 0
	}
	return 1
}
