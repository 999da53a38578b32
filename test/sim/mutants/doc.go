// Command mutants takes one step at a time out of the product, or turns it
// around, and shows that the simulation notices.
//
// A mutant is a replacement in one source file. It is compiled by the
// compiler's overlay into a simulator of its own, so nothing of it is in the
// product, and a replacement that does not fit the source any more is an
// error, not a mutant that nobody looks for.
package main
