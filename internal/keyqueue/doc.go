// Package keyqueue decides which code a worker takes next and what becomes of
// a code's messages in the meantime.
//
// It owns four promises:
//
//   - At most one worker is on a key. A key that is touched while it is worked
//     on runs again, unless the work read its facts after the touch.
//   - At most one message of a key is un-acked here. A newer message takes the
//     place of an older one, which is handed out to be acked. That is the
//     whole of coalescing.
//   - Tenants take turns, and none has more than its cap of keys in work. A
//     storm in one tenant leaves the turn of the others as it was.
//   - A held key comes back no later than its deadline and never later than
//     MaxHold; its message is then handed out to be given back to the broker,
//     because by then the key may belong to somebody else. A newer message may
//     bring a held key forward, except out of a failure's backoff.
//
// The queue has no goroutine, no clock and no lock: time is passed in, and the
// caller serialises the calls. It knows nothing of the broker; a message is
// whatever the caller can compare.
package keyqueue
