package audit

import "time"

// Scale is what an estimate rests on.
type Scale struct {
	Codes int64
	// Largest is how many of them the largest tenant has.
	Largest int64
	// TenantRate and TotalRate are the calls a second that WeCom allows one
	// tenant, and the egress address, in the long run.
	TenantRate, TotalRate float64
	// Share is the part of that which a sweep may take from the live work.
	Share float64
	// WalkRate is how many codes a second one keeper compares, Keepers how many
	// walk.
	WalkRate float64
	Keepers  int
}

// Estimate is what it costs to look at every code once.
type Estimate struct {
	// Calls are those of a sweep against WeCom, one a code. The audit makes none.
	Calls int64
	// SweepAlone is how long the sweep takes with the whole budget, and
	// SweepShared with its share of it.
	SweepAlone, SweepShared time.Duration
	// Audit is how long one pass of the audit takes.
	Audit time.Duration
}

// Of does the arithmetic. A sweep is as slow as the address allows for all codes
// together, or the tenant with the most codes for its own, whichever is slower.
func (s Scale) Of() Estimate {
	alone := max(over(s.Codes, s.TotalRate), over(s.Largest, s.TenantRate))
	e := Estimate{Calls: s.Codes, SweepAlone: alone, Audit: over(s.Codes, s.WalkRate*float64(max(s.Keepers, 1)))}
	if s.Share > 0 {
		e.SweepShared = time.Duration(float64(alone) / s.Share)
	}
	return e
}

func over(n int64, rate float64) time.Duration {
	if rate <= 0 {
		return 0
	}
	return time.Duration(float64(n) / rate * float64(time.Second)).Round(time.Second)
}
