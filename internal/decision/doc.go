// Package decision keeps what an operator decided about what waits for a
// person: a dirty code, a dead letter.
//
// It owns the record of a decision and the order in which it is written and
// acted upon. It refuses to own the acts: each belongs to what is decided upon.
package decision
