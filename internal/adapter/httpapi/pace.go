package httpapi

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Pace is how often one token may ask: so many requests a second on average,
// and so many at once.
type Pace struct {
	PerSecond float64
	Burst     int
}

// maxPaces bounds how many tokens are told apart. A pace that was forgotten
// begins anew with a whole burst, so the bound is far above what is in use.
const maxPaces = 10_000

// paces keeps a bucket for each token.
type paces struct {
	pace Pace
	mu   sync.Mutex
	of   map[string]*rate.Limiter
}

func newPaces(pace Pace) *paces { return &paces{pace: pace, of: map[string]*rate.Limiter{}} }

// wait takes one request of the token's bucket, or returns after how long there
// is one.
func (p *paces) wait(token string) time.Duration {
	now := time.Now()
	reservation := p.limiter(token).ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait
}

func (p *paces) limiter(token string) *rate.Limiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	limiter := p.of[token]
	if limiter == nil {
		if len(p.of) >= maxPaces {
			for idle := range p.of {
				delete(p.of, idle)
				break
			}
		}
		limiter = rate.NewLimiter(rate.Limit(p.pace.PerSecond), p.pace.Burst)
		p.of[token] = limiter
	}
	return limiter
}
