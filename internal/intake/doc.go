// Package intake brings events to workers: it receives from the subscription,
// keeps one worker on a code and one un-acked message per code, lets codes
// wait for their deadlines, and turns each outcome of a refresh into an ack, a
// negative ack, a park or a dead letter.
//
// It owns the goroutines of a refresher and waits for them. It refuses to know
// the broker's client and how a code is refreshed: both are interfaces.
package intake
