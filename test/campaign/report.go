package campaign

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Report is how a run went.
type Report struct {
	EventsPublished   int            `json:"events_published"`
	EventsUnaccounted int            `json:"events_unaccounted"` // neither acked nor in the dirty set nor a dead letter
	Pushes            int            `json:"pushes"`             // updates that WeCom took
	NetChanges        int            `json:"net_changes"`        // times that the facts asked for another list
	Scans             int            `json:"scans"`
	ScansLost         int            `json:"scans_lost"` // nobody had headroom left
	Additions         int            `json:"additions"`
	OverCeiling       map[string]int `json:"over_ceiling"` // additions beyond a ceiling, by family and ceiling
	CountersOff       int            `json:"counters_off"` // counters in the store that are not what was told
	FanOuts           int            `json:"fan_outs"`     // runs that ended with every code released
	Misassigned       struct {
		Total    int                   `json:"total"`
		ByCause  map[reason.Reason]int `json:"by_cause"`
		ByFamily map[roster.Family]int `json:"by_family"`
		Drawn    map[reason.Reason]int `json:"drawn"`  // of codes that are drawn from, by cause
		ByAge    map[string]int        `json:"by_age"` // of the fact that excludes the person met
		ByTenant map[string]int        `json:"by_tenant"`
	} `json:"misassigned"`
	Freshness            Quantiles `json:"freshness_ms"`
	FreshnessUnthrottled Quantiles `json:"freshness_unthrottled_ms"`
	FreshnessStill       Quantiles `json:"freshness_still_ms"` // unthrottled, outside of rolls
	Rolls                []Rolled  `json:"rolls,omitempty"`
	DivergentCodes       int       `json:"divergent_codes"`
	StalePushes          int       `json:"stale_pushes"`
	UnmatchedPushes      int       `json:"unmatched_pushes"` // lists that the facts never asked for as a whole
	Answers45009         int       `json:"answers_45009"`
	Redeliveries         int       `json:"redeliveries"`
	ThrottledPushes      int       `json:"throttled_pushes"` // that had to wait for vendor budget
	Coalesced            int       `json:"coalesced"`
	DirtyLeft            int       `json:"dirty_left"`
	Killed               int       `json:"killed"`
	WallSeconds          float64   `json:"wall_s"`
}

// Quantiles of a duration, in milliseconds.
type Quantiles struct {
	P50   float64 `json:"p50"`
	P95   float64 `json:"p95"`
	P99   float64 `json:"p99"`
	Count int64   `json:"count"`
}

func quantiles(h *hdrhistogram.Histogram) Quantiles {
	ms := func(q float64) float64 { return float64(quantile(h, q).Microseconds()) / 1000 }
	return Quantiles{P50: ms(50), P95: ms(95), P99: ms(99), Count: h.TotalCount()}
}

// Faults are the promises that the run broke; none is a good run.
func (r Report) Faults() []string {
	var faults []string
	add := func(n int, what string) {
		if n > 0 {
			faults = append(faults, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(r.DivergentCodes, "codes differ from what the facts ask for")
	add(r.EventsUnaccounted, "events are unaccounted for")
	add(r.Misassigned.Drawn[reason.AtAddLimit]+r.Misassigned.Drawn[reason.AtDailyLimit], "draws gave somebody who was at his ceiling on the code")
	add(r.CountersOff, "counters are not what WeCom told")
	add(r.StalePushes, "pushes of an older list came after a newer one")
	return faults
}

// WriteFile writes the report as JSON.
func (r Report) WriteFile(path string) error {
	body, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if err := os.WriteFile(path, append(body, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// Print writes the report for a person.
func (r Report) Print(w io.Writer) {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 3, WidthMax: 90, WidthMaxEnforcer: text.WrapSoft}})
	t.AppendRows([]table.Row{
		{"events published", r.EventsPublished, fmt.Sprintf("%d merged with a newer one, %d redeliveries", r.Coalesced, r.Redeliveries)},
		{"events unaccounted", r.EventsUnaccounted, "neither acked, nor dirty, nor a dead letter"},
		{"pushes", r.Pushes, fmt.Sprintf("for %d net changes of a list", r.NetChanges)},
		{"throttled pushes", r.ThrottledPushes, fmt.Sprintf("%.2f redeliveries each", float64(r.Redeliveries)/float64(max(r.ThrottledPushes, 1)))},
		{"answers 45009", r.Answers45009, "calls beyond WeCom's limits"},
		{"freshness, unthrottled", millis(r.FreshnessUnthrottled.P50), fmt.Sprintf("p95 %s, p99 %s", millis(r.FreshnessUnthrottled.P95), millis(r.FreshnessUnthrottled.P99))},
		{"freshness, all", millis(r.Freshness.P50), fmt.Sprintf("p95 %s, p99 %s (the storming tenant waits for its quota)", millis(r.Freshness.P95), millis(r.Freshness.P99))},
	})
	t.AppendRows(r.rollRows())
	t.AppendRows([]table.Row{
		{"scans", r.Scans, fmt.Sprintf("%d found nobody with room left", r.ScansLost)},
		{"additions", r.Additions, fmt.Sprintf("counters off: %d; beyond a ceiling: %s", r.CountersOff, listed(r.OverCeiling))},
		{"fan-outs", r.FanOuts, "a member or a tenant, over all codes"},
		{"misassigned scans", r.Misassigned.Total, "by cause: " + listed(r.Misassigned.ByCause)},
		{"", "", "on codes that are drawn from: " + listed(r.Misassigned.Drawn)},
		{"", "", "by age of the fact: " + listed(r.Misassigned.ByAge)},
		{"", "", "by family: " + listed(r.Misassigned.ByFamily) + "; by tenant: " + listed(r.Misassigned.ByTenant)},
		{"divergent codes", r.DivergentCodes, "WeCom or the rotation set differs from the facts"},
		{"stale pushes", r.StalePushes, "an older list after a newer one"},
	})
	_, _ = fmt.Fprintln(w, t.Render())
}

// rollRows sets the freshness during each roll beside that of the rest.
func (r Report) rollRows() []table.Row {
	if len(r.Rolls) == 0 {
		return nil
	}
	row := func(what string, q Quantiles, of string) table.Row {
		return table.Row{what, millis(q.P50), fmt.Sprintf("p95 %s, p99 %s (%d lists%s)", millis(q.P95), millis(q.P99), q.Count, of)}
	}
	rows := []table.Row{row("- outside of rolls", r.FreshnessStill, "")}
	for _, roll := range r.Rolls {
		rows = append(rows, row("- roll to "+roll.To, roll.Freshness, fmt.Sprintf("; %d processes in %.1fs", roll.Replaced, roll.Seconds)))
	}
	return rows
}

func millis(ms float64) string {
	return time.Duration(ms * float64(time.Millisecond)).Round(time.Millisecond / 10).String()
}

func listed[K ~string](counts map[K]int) string {
	if len(counts) == 0 {
		return "none"
	}
	out := ""
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		if out != "" {
			out += ", "
		}
		out += fmt.Sprintf("%s %d", k, counts[k])
	}
	return out
}
