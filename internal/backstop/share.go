package backstop

import (
	"context"
	"sync"
	"time"
)

// shared is a set of which no more than a rate is given out.
type shared struct {
	DueSet
	rate float64

	mu      sync.Mutex // a Releaser asks for several tenants at once; never held over I/O
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
	s.mu.Lock()
	defer s.mu.Unlock()
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
	limit = s.take(tenant, now, limit)
	if limit < 1 {
		return nil, nil
	}
	entries, err := s.DueSet.Due(ctx, tenant, now, limit)
	s.take(tenant, now, len(entries)-limit) // what was not used
	return entries, err
}

// take takes up to so many out of the tenant's share and returns how many; less
// than 0 are put back.
func (s *shared) take(tenant string, now time.Time, many int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.of(tenant, now)
	many = min(many, int(b.fill(s.rate, now)))
	b.tokens -= float64(many)
	return many
}

func (s *shared) of(tenant string, now time.Time) *bucket {
	b := s.buckets[tenant]
	if b == nil {
		b = newBucket(s.rate, now)
		s.buckets[tenant] = b
	}
	return b
}
