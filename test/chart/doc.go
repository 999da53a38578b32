// Package chart proves the Helm chart in charts/rollcall: what it refuses, what
// it renders, that the binary understands what it is given, and that a real API
// server takes, changes and removes a release.
//
// Its tests have the build tag chart and run the tools that `make tools-chart`
// builds; `make chart-test` does both. It refuses to own the chart's own unit
// suites (charts/rollcall/tests), which it only runs.
package chart
