// Package intervene is how an operator steps in: codes are recomputed, lists at
// WeCom are kept as they are, a staff member is taken off every list, a lane is
// chosen.
//
// It owns what an order means, what is said against it before it is carried out,
// and that it is recorded. It refuses to own what follows: an order is a fact, or
// a reason to recompute, like any other, and the refreshers do the rest.
package intervene
