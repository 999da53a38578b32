// Package telemetry owns how a process of Rollcall is seen from outside: its
// logs, its meter and tracer providers, and the operations server with
// /livez, /readyz and /metrics.
//
// Nothing secret leaves through it: log attributes and health errors pass
// [Scrub]. Which instruments there are is said in the package metrics below
// it; what is healthy is said by the parts themselves, through [Health]. The
// package refuses to own either, and starts no part of the service.
package telemetry
