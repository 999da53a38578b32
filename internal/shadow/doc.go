// Package shadow compares what Rollcall would push with what another system
// pushes.
//
// It owns when two lists are comparable, what a difference between them is
// called, how differences are counted by day, and what they say about moving a
// tenant over. It refuses to own how a verdict comes about (package push leaves
// it here), how a report arrives, and the move itself.
//
// # When a pair counts
//
// Facts change, and both sides react at their own speed. So a pair of lists is
// compared when neither has changed for the settle time, and once for each change
// of either: a difference that heals within the settle time was never one. A list
// that comes again unchanged is no change. Each side is ordered by its own
// instants only: no clock of the other system is compared with ours.
//
// # Two keepers at once
//
// A comparison and its place in the counts of its day are one conditional write:
// it requires the number of the change that was looked at, and takes away what
// makes the code due. So it happens once, whoever sweeps and however late.
package shadow
