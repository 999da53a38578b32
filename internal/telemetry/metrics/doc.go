// Package metrics owns the instruments of Rollcall: their names, units,
// buckets and labels, in one table from which both the instruments and
// docs/metrics.md are made.
//
// Every label is a closed set, so the number of series is known beforehand
// and no tenant, code or staff member can add one; a value outside the set is
// counted as "other". The package refuses to own where metrics go (that is
// the package telemetry) and who is alerted.
package metrics
