package pulsarbus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
)

// maxAckTries is how often a batch of acks is sent before it is given up.
// While the broker is away an attempt waits for it, so failures are rare.
const maxAckTries = 5

// errAcksLost is returned by a flush during which acks were given up.
var errAcksLost = errors.New("acks were given up: their messages will be delivered again")

// acks collects acks and sends them in confirmed batches from one goroutine,
// so that no worker waits for the broker and so that a flush is exact. The
// client's own grouping offers neither: a full group blocks the caller while
// the broker is away, and nothing tells when an ack has arrived.
type acks struct {
	send     func([]pulsar.MessageID) error // waits for the broker
	interval time.Duration
	batch    int
	log      *slog.Logger
	dropped  *atomic.Int64

	mu      sync.Mutex
	pending []pulsar.MessageID
	added   uint64        // acks ever added
	settled uint64        // of these confirmed or given up
	lost    uint64        // of these given up
	moved   chan struct{} // closed and replaced when settled grows
	urgent  bool          // somebody waits for a flush
	kick    chan struct{} // capacity 1: pending or urgent changed
}

func newAcks(o Options, dropped *atomic.Int64, send func([]pulsar.MessageID) error) *acks {
	return &acks{
		send: send, interval: o.AckInterval, batch: o.AckBatch, log: o.Logger, dropped: dropped,
		moved: make(chan struct{}), kick: make(chan struct{}, 1),
	}
}

// add takes acks; it never waits.
func (a *acks) add(ids ...pulsar.MessageID) {
	a.mu.Lock()
	a.pending = append(a.pending, ids...)
	a.added += uint64(len(ids))
	a.mu.Unlock()
	a.wake()
}

func (a *acks) wake() {
	select {
	case a.kick <- struct{}{}:
	default:
	}
}

// flush waits until all acks added before are with the broker.
func (a *acks) flush(ctx context.Context) error {
	a.mu.Lock()
	target, lost := a.added, a.lost
	a.mu.Unlock()
	for {
		a.mu.Lock()
		settled, lostNow, moved := a.settled, a.lost, a.moved
		a.urgent = settled < target
		a.mu.Unlock()
		if settled >= target {
			if lostNow > lost {
				return errAcksLost
			}
			return nil
		}
		a.wake()
		select {
		case <-ctx.Done():
			a.calm()
			return fmt.Errorf("%d acks are not confirmed: %w", target-settled, ctx.Err())
		case <-moved:
		}
	}
}

// calm ends the hurry of a flush that gave up.
func (a *acks) calm() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.urgent = false
}

// run sends until ctx ends. An attempt under way is finished first.
func (a *acks) run(ctx context.Context) {
	tries := pace{most: time.Second}
	for failures := 0; ; {
		if !a.collect(ctx) {
			return
		}
		batch := a.take()
		err := a.send(batch)
		switch {
		case err == nil:
			failures = 0
			tries.reset()
			a.settle(len(batch), 0)
			continue
		case failures+1 >= maxAckTries:
			a.giveUp(batch, err)
			failures = 0
			continue
		}
		failures++
		a.putBack(batch, err)
		if !sleep(ctx, tries.next()) {
			return
		}
	}
}

// collect waits until there is a batch to send: something pending, and either
// the interval over, the batch full, or a flush waiting.
func (a *acks) collect(ctx context.Context) bool {
	timer := time.NewTimer(a.interval)
	defer timer.Stop()
	for over := false; ; {
		n, urgent := a.state()
		if n > 0 && (over || urgent || n >= a.batch) {
			return ctx.Err() == nil
		}
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			over = true
		case <-a.kick:
		}
	}
}

func (a *acks) state() (pending int, urgent bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.pending), a.urgent
}

func (a *acks) take() []pulsar.MessageID {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := min(len(a.pending), a.batch)
	batch := a.pending[:n:n]
	if a.pending = a.pending[n:]; len(a.pending) == 0 {
		a.pending = nil
	}
	return batch
}

// putBack keeps what failed for the next attempt, and settles the rest.
func (a *acks) putBack(batch []pulsar.MessageID, err error) {
	failed := batch
	var partly pulsar.AckError
	if errors.As(err, &partly) {
		failed = failed[:0:0]
		for _, id := range batch {
			if partly[id] != nil {
				failed = append(failed, id)
			}
		}
	}
	a.mu.Lock()
	a.pending = append(failed, a.pending...)
	a.mu.Unlock()
	a.settle(len(batch)-len(failed), 0)
	a.log.Warn("acks not confirmed, trying again", "acks", len(failed), "error", err)
}

func (a *acks) giveUp(batch []pulsar.MessageID, err error) {
	a.dropped.Add(int64(len(batch)))
	a.settle(len(batch), len(batch))
	a.log.Error("acks given up, their messages will be delivered again", "acks", len(batch), "error", err)
}

func (a *acks) settle(n, lost int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settled += uint64(n)
	a.lost += uint64(lost)
	close(a.moved)
	a.moved = make(chan struct{})
}

// sleep waits for d and reports false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
