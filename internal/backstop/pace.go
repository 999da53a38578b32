package backstop

import (
	"math"
	"time"
)

// paceBurst is for how long an unused pace may be saved up: a sweep that comes
// late makes up for it, one that comes after a pause does not flood.
const paceBurst = 2 * time.Second

// pace bounds what is released: a bucket a tenant and one for all of them. It
// is not safe for concurrent use.
type pace struct {
	tenantRate float64 // codes a second
	totalRate  float64
	tenants    map[string]*bucket
	total      *bucket
	first      int // whose turn it is to be asked first
}

// bucket holds what may be released; it is filled when it is looked at.
type bucket struct {
	tokens float64
	at     time.Time
}

func newPace(tenantRate, totalRate float64) *pace {
	return &pace{tenantRate: tenantRate, totalRate: totalRate, tenants: map[string]*bucket{}}
}

// share is how many codes of a tenant may be released in one sweep.
type share struct {
	tenant string
	codes  int
}

// shares divides what may be released now among the tenants that want to. It
// takes nothing out: spend does, of what was really released. Tenants who get
// nothing are left out; the first of the list changes each time.
func (p *pace) shares(tenants []string, now time.Time) []share {
	if p.total == nil {
		p.total = newBucket(p.totalRate, now)
	}
	p.forget(tenants, now)
	left := int(p.total.fill(p.totalRate, now))
	var out []share
	for i := range tenants {
		tenant := tenants[(p.first+i)%len(tenants)]
		own := int(p.of(tenant, now).fill(p.tenantRate, now))
		fair := (left + len(tenants) - i - 1) / (len(tenants) - i)
		if n := min(own, fair); n > 0 {
			out = append(out, share{tenant, n})
			left -= n
		}
	}
	p.first++
	return out
}

// spend takes out what was released.
func (p *pace) spend(tenant string, codes int) {
	p.total.tokens -= float64(codes)
	if b := p.tenants[tenant]; b != nil {
		b.tokens -= float64(codes)
	}
}

func (p *pace) of(tenant string, now time.Time) *bucket {
	b := p.tenants[tenant]
	if b == nil {
		b = newBucket(p.tenantRate, now)
		p.tenants[tenant] = b
	}
	return b
}

// forget drops the buckets of tenants that want nothing and would be full.
func (p *pace) forget(wanting []string, now time.Time) {
	want := make(map[string]bool, len(wanting))
	for _, tenant := range wanting {
		want[tenant] = true
	}
	for tenant, b := range p.tenants {
		if !want[tenant] && now.Sub(b.at) >= paceBurst {
			delete(p.tenants, tenant)
		}
	}
}

// newBucket holds a second's worth, at least one code.
func newBucket(rate float64, now time.Time) *bucket { return &bucket{tokens: max(1, rate), at: now} }

// fill adds what has come in since the last look, and returns all there is.
func (b *bucket) fill(rate float64, now time.Time) float64 {
	full := max(1, rate*paceBurst.Seconds())
	b.tokens = min(full, b.tokens+rate*max(0, now.Sub(b.at).Seconds()))
	b.at = now
	return math.Max(0, b.tokens)
}
