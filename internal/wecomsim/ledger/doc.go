// Package ledger keeps what happened and answers questions about it.
//
// It owns the log of calls, with a bound or without loss, and the checker that
// computes from it how many calls fell into one window: the proof that a pace
// held does not rest on the limiter that was to be kept happy. It refuses to
// own a judgement: it counts, its reader compares.
package ledger
