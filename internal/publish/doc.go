// Package publish makes sure that a code is recomputed after its facts have
// changed.
//
// It owns the order of places a reason to recompute goes to: the broker, and
// the dirty set when the broker does not take it. It refuses to own facts and
// verdicts.
package publish
