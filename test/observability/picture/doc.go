// Package picture draws a Grafana dashboard as a page without Grafana: the
// panels at their places, with their units, thresholds, colors and legends, from
// the results of their queries.
//
// It owns how a panel looks on paper. It refuses to own where data come from,
// and whatever needs a mouse: tooltips, zoom, drill-down.
package picture
