// Package redisbudget paces the calls of one vendor API over all instances.
//
// It owns the buckets in Redis: one pair per tenant and one pair per egress
// address, the slots that refused codes have booked in them, and the block
// that an answer 45009 puts on a tenant. It refuses to own what to do with a
// refusal (hold, overflow), the calls in flight (package aimd has the
// arithmetic) and the classification of answers.
//
// # The bound
//
// WeCom's page 90312 allows N calls per window W. A bucket is a GCRA with rate
// r and burst b; its charges carry the instant s at which a call may go, and
// no interval of length L holds more than b + r·L of these instants. A call
// goes on the wire in [s, s + Delay], so no window, sliding or fixed, holds
// more than b + r·(W + Delay) calls, and r is derived such that this is at
// most N for every window. A pair splits r and b into a common bucket and a
// reserve; the bound of the pair is the sum of both.
//
// # Slots
//
// A refused ask is charged at once and keeps its instant s under the code's own
// key; whoever asks for the code in [s, s + Delay) is admitted by that charge.
// A charge is never taken back out of the bucket: that would put a later slot
// at an instant that is already booked, and enough of those on one instant
// break the bound. Instead a slot that is not needed goes to the list of freed
// slots, from which the next ask that would have to wait longer takes it. The
// instants charged thus stay as they are, each is used once at most, and the
// level of a bucket never moves backwards; which is why an instance may
// remember it, and hand it to a Redis that came back without its data.
//
// # Spare calls
//
// Calls that nobody waits for are no asks: they take no slot, and go only while
// both common buckets are half full or fuller. Of the address's bucket each is a
// charge like any other, so the bound above includes them.
//
// # Tenant, then address
//
// An ask goes to the tenant's pair first and, once admitted there, to the
// address's. If the address refuses, the address books a slot for the code,
// the tenant's slot is freed for its other codes, and a note of the address's
// instant is left in its place, so that asking early costs nothing. At that
// instant the tenant is asked anew: while the address is the bottleneck the
// tenant's other codes keep freeing slots, so one is at hand; while it is not,
// the address does not refuse. Should the tenant refuse all the same, the
// address's slot is freed. Neither side ever holds what the other waits for.
package redisbudget
