// Package desk decides what becomes of a consumer's messages: which are acked,
// given back, kept waiting, or acked only once their code is in the dirty set.
//
// It is the pure half of an intake: the keyed queue and the rules that turn
// the outcome of a refresh into its settlement. It owns the order "dirty
// first, acked second" and the limits on what may wait here. It refuses to own
// goroutines, locks and I/O: the caller serialises the calls, passes the time
// in, and does what a Settlement says.
package desk
