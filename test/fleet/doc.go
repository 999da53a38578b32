// Package fleet runs roles of Rollcall as real processes, as an operator does.
//
// It owns the processes: starting, waiting until ready, killing, draining, and
// reading their metrics. It refuses to own what they work on: topics,
// databases and the simulated vendor belong to whoever starts them.
package fleet
