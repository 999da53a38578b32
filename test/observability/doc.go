// Package observability proves what is delivered for watching Rollcall: the
// alert rules and dashboards of the chart, on a real Prometheus and Alertmanager
// that scrape real processes.
//
// It owns those two servers, the reading of rule files and dashboards, and the
// scaling of rules to the time of a test. It refuses to own rules and
// dashboards, which the chart ships, and their unit tests, which need no
// process (test/rules).
package observability
