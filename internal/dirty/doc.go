// Package dirty is what an operator does to the codes that could not be
// finished: have one looked at now, or give one up.
//
// It owns how an entry is named and which writes are made of a decision. It
// refuses to own the set, which refreshers and the keeper write too: every
// write here is of an entry as it was seen, and none of one that has changed.
package dirty
