package main

import (
	"maps"
	"slices"
	"strings"
)

// dashboard is one page, from top to bottom.
type dashboard struct {
	uid         string
	title       string
	description string
	links       []string // uids of the dashboards beside it
	rows        []row
}

// row is a heading and what is below it. Panels stand side by side until 24
// columns are full.
type row struct {
	title  string
	panels []panel
}

// kind is how a panel shows its figures.
type kind string

const (
	series kind = "timeseries" // lines over time
	number kind = "stat"       // the newest figures, large
	bars   kind = "bargauge"   // the newest figures, beside each other
	list   kind = "table"
)

// panel is one question and its answer.
type panel struct {
	kind  kind
	title string
	// good says what good looks like, and what to do when it does not. It is
	// what a reader sees behind the panel's "i".
	good    string
	runbook string // the alert whose page belongs to it; empty for none

	width, height int    // columns of 24; rows of about 30 pixels
	unit          string // Grafana's name of a unit
	queries       []query
	steps         []step // where the color changes
	stacked       bool
	max           float64           // of the axis; 0 lets Grafana choose
	colors        map[string]string // of series, by legend
	none          string            // what is shown when there is nothing
}

// query is one expression. SEL in it stands for the chosen namespaces and jobs,
// NS for the namespaces alone: recorded series have no job.
type query struct {
	expr   string
	legend string
}

// step is a color from a value on.
type step struct {
	from  float64
	color string
}

func (q query) promQL() string {
	return strings.NewReplacer(
		"SEL", `namespace=~"$namespace",job=~"$job"`,
		"NS", `namespace=~"$namespace"`,
	).Replace(q.expr)
}

// newestOnly reports whether a panel of the kind shows one instant.
func (k kind) newestOnly() bool { return k == bars || k == list }

// about is the panel's description.
func (p panel) about() string {
	if p.runbook == "" {
		return p.good
	}
	return p.good + "\n\nRunbook: docs/runbooks/" + p.runbook + ".md"
}

// sortedKeys are the keys of m in order, so that a file does not change by
// itself.
func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
