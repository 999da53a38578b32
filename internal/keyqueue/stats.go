package keyqueue

import (
	"maps"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Stats are the numbers of keys by state.
type Stats struct {
	Ready    int
	InFlight int
	Held     int
	ByCause  map[reason.Reason]int // Held by cause; causes without a key may be absent
}

// Stats counts the keys by state.
func (q *Queue[M]) Stats() Stats {
	by := make(map[reason.Reason]int, len(q.held))
	for cause, n := range q.held {
		if n > 0 {
			by[cause] = n
		}
	}
	return Stats{Ready: q.ready, InFlight: q.inFlight, Held: q.heldSum, ByCause: by}
}

// Held is the number of keys that wait.
func (q *Queue[M]) Held() int { return q.heldSum }

// TenantStats are the numbers of one tenant's keys by state.
type TenantStats struct {
	Tenant   string
	Ready    int
	InFlight int
	Limit    int                   // of InFlight
	Held     map[reason.Reason]int // by cause; causes without a key may be absent
}

// Waiting is how many of the keys wait for a worker or for their deadline.
func (s TenantStats) Waiting() int {
	n := s.Ready
	for _, held := range s.Held {
		n += held
	}
	return n
}

// Workable is how many workers the keys could keep busy now. Those that wait for
// a deadline could none, and beyond the limit a further worker would stand idle.
func (s TenantStats) Workable() int { return min(s.Ready+s.InFlight, s.Limit) }

// Tenants are the numbers of every tenant that has keys in some state, in no
// order. It takes time in proportion to them.
func (q *Queue[M]) Tenants() []TenantStats {
	all := make([]TenantStats, 0, len(q.tenants))
	for _, t := range q.tenants {
		s := TenantStats{Tenant: t.name, Ready: t.ready(), InFlight: t.inFlight, Limit: t.limit, Held: maps.Clone(t.held)}
		if s.Waiting()+s.InFlight > 0 {
			all = append(all, s)
		}
	}
	return all
}
