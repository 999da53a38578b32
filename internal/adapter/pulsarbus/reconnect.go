package pulsarbus

import (
	"sync/atomic"
	"time"

	"github.com/apache/pulsar-client-go/pulsar/backoff"
)

// The client reconnects by itself, for ever, with one exception: when the
// broker answers that the topic is not there it gives up without a word, and
// Receive waits for ever (v0.19.0, partitionConsumer.reconnectToBroker). What
// it does show is its backoff policy: a new policy is a reconnection that
// begins, Next an attempt that failed, Reset one that succeeded. A
// reconnection that shows none of these for longer than an attempt may take
// has been given up.

// watched is the client's reconnect policy with an alarm on silence. The
// client uses one from a single goroutine.
type watched struct {
	pace  pace
	limit time.Duration
	alarm *time.Timer
	away  *atomic.Int32
	back  bool
}

var _ backoff.Policy = (*watched)(nil)

// watch returns a factory of policies. stalled is called, from a goroutine of
// its own and perhaps more than once, when a reconnection has been silent for
// limit; waits between attempts are at most most. away counts the reconnections
// that have not succeeded yet: those of several partitions, and the one that was
// given up.
func watch(limit, most time.Duration, away *atomic.Int32, stalled func()) func() backoff.Policy {
	return func() backoff.Policy {
		away.Add(1)
		return &watched{pace: pace{most: most}, limit: limit, alarm: time.AfterFunc(limit, stalled), away: away}
	}
}

// Next returns the wait before the next attempt, which has limit from then on.
func (w *watched) Next() time.Duration {
	wait := w.pace.next()
	w.alarm.Reset(wait + w.limit)
	return wait
}

// IsMaxBackoffReached feeds a metric of the client.
func (w *watched) IsMaxBackoffReached() bool { return w.pace.last >= w.pace.most }

// Reset ends the reconnection: it succeeded.
func (w *watched) Reset() {
	w.alarm.Stop()
	w.pace.reset()
	if !w.back {
		w.back = true
		w.away.Add(-1)
	}
}
