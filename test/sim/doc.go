// Package sim plays the way of an event from the broker to WeCom and back,
// with everything that can go wrong in between, in simulated time.
//
// The keyed queue, the settling of outcomes, the push protocol, the deciding
// and the keeper's sweeps are the product's own code. Broker, store, Redis and
// WeCom are models that do what the real ones do on a bad day: a key is given
// to a new consumer while the old one works on, acks are lost, messages come
// back out of order or twice, a topic moves and forgets what was pending;
// writes fail, or succeed and say that they failed; calls are refused, lost,
// late, or applied without an answer; processes stall for longer than an
// announced call lives, and are killed between any two steps.
//
// One seed is one schedule: Run with the same seed does the same, step by
// step. While it runs, and when it has come to rest, the invariants listed in
// invariant.go are checked.
package sim
