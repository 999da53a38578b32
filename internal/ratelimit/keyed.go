// Package ratelimit lets each of many clients ask so often and no oftener.
//
// It owns one bucket for each client, in bounded memory. It refuses to own who
// a client is and what he is answered. Calls to WeCom are counted elsewhere, for
// all processes together; what is counted here is each process's own.
package ratelimit

import (
	"time"

	"golang.org/x/time/rate"

	"github.com/rollcall-dev/rollcall/internal/recent"
)

// Limit is so many requests a second on average, and so many at once.
type Limit struct {
	PerSecond float64
	Burst     int
}

// Keyed keeps a bucket for each client. It is safe for concurrent use.
type Keyed[K comparable] struct {
	limit   Limit
	now     func() time.Time
	buckets *recent.Map[K, *rate.Limiter]
}

// NewKeyed returns full buckets for the size clients that asked last. One that
// was forgotten begins anew with a whole burst, so size is far above how many
// ask in the time that a bucket takes to fill.
func NewKeyed[K comparable](limit Limit, size int, now func() time.Time) *Keyed[K] {
	return &Keyed[K]{limit: limit, now: now, buckets: recent.NewMap[K, *rate.Limiter](size)}
}

// Wait takes one request of a client's bucket and returns 0, or takes nothing
// and returns after how long there is one.
func (k *Keyed[K]) Wait(client K) time.Duration {
	bucket := k.buckets.GetOrPut(client, func() *rate.Limiter {
		return rate.NewLimiter(rate.Limit(k.limit.PerSecond), k.limit.Burst)
	})
	now := k.now()
	reservation := bucket.ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait
}
