package landing

import (
	"net/netip"
	"time"

	"golang.org/x/time/rate"

	"github.com/rollcall-dev/rollcall/internal/recent"
)

// Pace is how often one address may ask: so many requests a second on average,
// and so many at once.
type Pace struct {
	PerSecond float64
	Burst     int
}

// maxPaces is how many addresses are told apart: about 5 MiB. One that was
// forgotten begins anew with a whole burst.
const maxPaces = 20_000

// paces keeps a bucket for each address.
type paces struct {
	pace Pace
	now  func() time.Time
	of   *recent.Map[netip.Prefix, *rate.Limiter]
}

func newPaces(pace Pace, now func() time.Time) *paces {
	return &paces{pace: pace, now: now, of: recent.NewMap[netip.Prefix, *rate.Limiter](maxPaces)}
}

// wait takes one request of an address's bucket and returns 0, or takes nothing
// and returns after how long there is one.
func (p *paces) wait(addr netip.Addr) time.Duration {
	limiter := p.of.GetOrPut(subscriber(addr), func() *rate.Limiter {
		return rate.NewLimiter(rate.Limit(p.pace.PerSecond), p.pace.Burst)
	})
	now := p.now()
	reservation := limiter.ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait
}
