package telemetry

import (
	"slices"
	"sync/atomic"
	"time"
)

// Heartbeat is a loop's sign of life.
type Heartbeat struct {
	name   string
	limit  time.Duration
	origin time.Time // ages are counted from it, so that a stepping wall clock does not matter
	last   atomic.Int64
	health *Health
}

// Heartbeat registers a loop by a name of its own. It has to beat at least
// once within limit, idle or not: a loop that waits for work waits with a
// timer beside. Registering is the first beat.
func (h *Health) Heartbeat(name string, limit time.Duration) *Heartbeat {
	beat := &Heartbeat{name: name, limit: limit, origin: time.Now(), health: h}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.heartbeats = append(h.heartbeats, beat)
	return beat
}

// Beat says that the loop turned. It costs a few nanoseconds.
func (b *Heartbeat) Beat() { b.last.Store(int64(time.Since(b.origin))) }

// End says that the loop ended on purpose; nothing is expected of it any more.
func (b *Heartbeat) End() {
	b.health.mu.Lock()
	defer b.health.mu.Unlock()
	b.health.heartbeats = slices.DeleteFunc(b.health.heartbeats, func(other *Heartbeat) bool { return other == b })
}

func (b *Heartbeat) report() CheckReport {
	age := time.Since(b.origin) - time.Duration(b.last.Load())
	check := CheckReport{Name: b.name, OK: age <= b.limit, AgeSeconds: seconds(age), LimitSeconds: seconds(b.limit)}
	if !check.OK {
		check.Error = "no progress"
	}
	return check
}
