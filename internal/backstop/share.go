package backstop

import (
	"context"
	"time"
)

// shared is a set of which no more than a rate is given out.
type shared struct {
	DueSet
	rate    float64
	buckets map[string]*bucket
}

// Share returns a set of which a tenant's codes are given out at no more than a
// rate a second, whatever the Releaser would take. It is for one Releaser.
func Share(set DueSet, rate float64) DueSet {
	return &shared{DueSet: set, rate: rate, buckets: map[string]*bucket{}}
}

// DueTenants returns the tenants that may have something now.
func (s *shared) DueTenants(ctx context.Context, now time.Time) ([]string, error) {
	all, err := s.DueSet.DueTenants(ctx, now)
	if err != nil {
		return nil, err
	}
	wanting := make(map[string]bool, len(all))
	var some []string
	for _, tenant := range all {
		wanting[tenant] = true
		if s.of(tenant, now).fill(s.rate, now) >= 1 {
			some = append(some, tenant)
		}
	}
	for tenant, b := range s.buckets {
		if !wanting[tenant] && now.Sub(b.at) >= paceBurst {
			delete(s.buckets, tenant)
		}
	}
	return some, nil
}

// Due gives out what the tenant's share allows.
func (s *shared) Due(ctx context.Context, tenant string, now time.Time, limit int) ([]Entry, error) {
	b := s.of(tenant, now)
	limit = min(limit, int(b.fill(s.rate, now)))
	if limit < 1 {
		return nil, nil
	}
	entries, err := s.DueSet.Due(ctx, tenant, now, limit)
	b.tokens -= float64(len(entries))
	return entries, err
}

func (s *shared) of(tenant string, now time.Time) *bucket {
	b := s.buckets[tenant]
	if b == nil {
		b = newBucket(s.rate, now)
		s.buckets[tenant] = b
	}
	return b
}
