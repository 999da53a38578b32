//go:build integration

package faults

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// board collects the results of rows that run side by side.
type board struct {
	mu      sync.Mutex
	results []result
}

// play plays a row and adds its result. One that ends the test early has a line
// too.
func (b *board) play(row string, play func() result) {
	out := result{row: row, late: "the row could not be played to its end"}
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.results = append(b.results, out)
	}()
	out = play()
}

// print writes the table in the order of the rows given.
func (b *board) print(t *testing.T, title string, order []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	slices.SortStableFunc(b.results, func(x, y result) int { return slices.Index(order, x.row) - slices.Index(order, y.row) })
	var out strings.Builder
	w := table.NewWriter()
	w.SetOutputMirror(&out)
	w.SetTitle("%s", title)
	w.AppendHeader(table.Row{"row", "fault", "meanwhile", "agreed after", "pushes", "extra", "stale", "45009", ""})
	for _, r := range b.results {
		verdict := "good"
		if !r.good() {
			verdict = "BROKEN"
		}
		agreed := fmt.Sprintf("%.1f s", r.converged.Seconds())
		if r.late != "" {
			agreed = fmt.Sprintf("not by %.0f s", limit.Seconds())
		}
		fault, during := "-", "-"
		if r.length > 0 {
			fault, during = fmt.Sprintf("%.1f s", r.length.Seconds()), fmt.Sprint(r.during, " pushes")
		}
		w.AppendRow(table.Row{r.row, fault, during, agreed, r.pushes, r.extra, len(r.stale), r.throttled, verdict})
	}
	w.SetStyle(table.StyleLight)
	w.Style().Format.Header = text.FormatDefault
	w.Render()
	t.Logf("\n%s", out.String())
	if missing := len(order) - len(b.results); missing > 0 || len(order) == 0 {
		t.Errorf("%d rows are missing of %d", missing, len(order))
	}
}
