package plan

import (
	"math"
	"time"
)

// Window is a limit of WeCom's: at most Calls per Per.
type Window struct {
	Calls int
	Per   time.Duration
}

// Budget is what WeCom allows and what Rollcall makes of it.
type Budget struct {
	Tenant, Address           []Window // the short and the long window
	TenantBurst, AddressBurst int      // what may go at once after a pause
	Instances                 int      // refreshers for which a call each is kept
	Delay                     time.Duration
	RemovalShare              float64 // of the tenant's, kept for lists that remove somebody
}

// Rates are the sustained calls a second of a tenant and of the address: what the
// windows leave after a whole burst, (calls − burst − instances) ÷ (window + delay),
// of the smaller one.
func (b Budget) Rates() (tenant, address float64) {
	return b.rate(b.Tenant, b.TenantBurst), b.rate(b.Address, b.AddressBurst)
}

func (b Budget) rate(windows []Window, burst int) float64 {
	rate := math.Inf(1)
	for _, w := range windows {
		rate = min(rate, float64(w.Calls-burst-b.Instances)/(w.Per+b.Delay).Seconds())
	}
	return rate
}

// times is the budget if WeCom allowed so much more.
func (b Budget) times(factor float64) Budget {
	b.Tenant, b.Address = timesAll(b.Tenant, factor), timesAll(b.Address, factor)
	b.TenantBurst = max(2, int(float64(b.TenantBurst)*factor))
	b.AddressBurst = max(2, int(float64(b.AddressBurst)*factor))
	return b
}

func timesAll(windows []Window, factor float64) []Window {
	out := make([]Window, len(windows))
	for i, w := range windows {
		out[i] = Window{Calls: int(float64(w.Calls) * factor), Per: w.Per}
	}
	return out
}

// bucket fills at a rate up to a burst.
type bucket struct{ tokens, rate, burst float64 }

func full(rate, burst float64) bucket { return bucket{tokens: burst, rate: rate, burst: burst} }

// fill adds what comes in a time. What is earned within one step is never lost to
// the burst: it could have been used in that step.
func (b *bucket) fill(d time.Duration) {
	earned := b.rate * d.Seconds()
	b.tokens = min(b.tokens+earned, max(b.burst, earned))
}

func (b *bucket) has() bool { return b.tokens >= 1 }

// till is the budget of a tenant during the play: the common bucket, the reserve
// for removals, the address, and how much the refreshers can have in flight.
type till struct {
	common, reserve, address, flight bucket
}

func newTill(b Budget, r Refreshing) *till {
	tenant, address := b.Rates()
	kept := max(1, float64(int(float64(b.TenantBurst)*b.RemovalShare)))
	return &till{
		common:  full(tenant*(1-b.RemovalShare), float64(b.TenantBurst)-kept),
		reserve: full(tenant*b.RemovalShare, kept),
		address: full(address, float64(b.AddressBurst)),
		flight:  full(float64(r.InFlight)/r.PushTime.Seconds(), float64(r.InFlight)),
	}
}

func (t *till) fill(d time.Duration) {
	for _, b := range []*bucket{&t.common, &t.reserve, &t.address, &t.flight} {
		b.fill(d)
	}
}

// answer of the till to one call.
type answer int8

const (
	paid     answer = iota
	throttle        // WeCom's budget is used up for this call
	crowded         // all places in flight are taken
)

// removal pays for a call that removes somebody, from the reserve if need be.
func (t *till) removal() answer { return t.pay(1) }

// other pays for a call that removes nobody: of the reserve only its upper half is
// for those, as the vendor budget has it.
func (t *till) other() answer { return t.pay(t.reserve.burst / 2) }

// pay takes a call out, of the reserve if that holds so much.
func (t *till) pay(least float64) answer {
	if !t.flight.has() {
		return crowded
	}
	from := &t.common
	if !from.has() {
		from = &t.reserve
		if from.tokens < max(1, least) {
			return throttle
		}
	}
	if !t.address.has() {
		return throttle
	}
	from.tokens--
	t.address.tokens--
	t.flight.tokens--
	return paid
}
