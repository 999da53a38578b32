// Package board is what an operator sees of the whole installation at one look:
// what every process says of itself, and what that means.
//
// It owns what a process reports, how reports are added up, and the rules by
// which the sum is an incident. It refuses to own where reports are kept and
// where the other figures are read (adapters do), how they look on a screen, and
// the alerts: those have a history that a look does not, so an incident here
// names the alert's runbook and is told sooner, or not at all.
package board
