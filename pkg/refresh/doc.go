// Package refresh is the SDK with which a producer asks Rollcall to bring a
// live QR code up to date.
//
// An event says that a code has to be recomputed and why; it never carries the
// state to apply. From that follow the three duties of a producer:
//
//  1. Write the fact first (the flag, the counter, the schedule, the edit) and
//     have the write confirmed by a majority.
//  2. Publish after that, not before and not at the same time: whoever receives
//     the event reads the facts and must find the new ones.
//  3. When Publish returns an error, publish again. Repeats are harmless, in
//     any number and in any order; a lost event leaves the code stale until
//     Rollcall's own audit finds it.
//
// The package owns the wire format (docs/events.md describes it for other
// languages) and the way an event gets onto the topic: keyed by the code, never
// batched. It refuses to own facts, retries across restarts and an outbox; a
// producer that must survive its own crash between the fact and the event keeps
// an outbox beside its fact.
package refresh
