// Package rules proves that alerts, dashboards and runbooks are about metrics
// that exist and about each other.
//
// The YAML files beside it are unit tests of the alert rules for promtool: each
// alert fires when it should, does not when it should not, and clears
// (`make rules-test`). The Go tests need no server: every metric, label and
// value in a query is in the catalog, every alert has its page and every page
// its alert, and the dashboards are what Grafana takes.
package rules
