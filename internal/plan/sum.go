package plan

import (
	"cmp"
	"slices"
	"time"
)

// Sum is what the outcomes of many tenants come to at the address that they
// share. The zero value is of none.
type Sum struct {
	Tenants   int
	Codes     int
	Additions int
	Events    int
	Changes   int
	Pushes    int
	Short     int       // tenants whose own budget is used up
	Dearest   []Outcome // those with most pushes, without their series

	perMinute []int
	minute    time.Duration
}

// maxDearest bounds the tenants that are told by name.
const maxDearest = 10

// Add takes in the outcome of another tenant, of the same Length.
func (s *Sum) Add(o Outcome) {
	s.Tenants++
	s.Codes += o.Codes
	s.Additions += o.Additions
	s.Events += o.Events
	s.Changes += o.Changes
	s.Pushes += o.Pushes
	if o.Saturation.Whole > 0 {
		s.Short++
	}
	s.minute = o.HourLength * hours / minutes
	for len(s.perMinute) < len(o.perMinute) {
		s.perMinute = append(s.perMinute, 0)
	}
	for i, n := range o.perMinute {
		s.perMinute[i] += n
	}
	o.perMinute = nil
	s.Dearest = append(s.Dearest, o)
	slices.SortStableFunc(s.Dearest, func(a, b Outcome) int {
		return cmp.Or(cmp.Compare(b.Pushes, a.Pushes), cmp.Compare(a.Tenant, b.Tenant))
	})
	s.Dearest = s.Dearest[:min(len(s.Dearest), maxDearest)]
}

// AtAddress says how long the address is in the way: each tenant's pushes, as its
// own budget lets them go, through the bucket of all of them.
func (s *Sum) AtAddress(b Budget) Saturation {
	_, rate := b.Rates()
	bucket, waiting, spell := full(rate, float64(b.AddressBurst)), 0.0, time.Duration(0)
	var sat Saturation
	for i := 0; i < len(s.perMinute) || waiting >= 1; i++ {
		now := time.Duration(i) * s.minute
		bucket.fill(s.minute)
		if i < len(s.perMinute) {
			waiting += float64(s.perMinute[i])
		}
		went := min(waiting, bucket.tokens)
		waiting, bucket.tokens = waiting-went, bucket.tokens-went
		if waiting < 1 {
			spell = 0
			continue
		}
		if sat.Whole == 0 {
			sat.From = now
		}
		spell += s.minute
		sat.Whole += s.minute
		sat.Longest = max(sat.Longest, spell)
		if int(waiting) > sat.Peak {
			sat.Peak, sat.PeakAt = int(waiting), now
		}
	}
	return sat
}
