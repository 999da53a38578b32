package roster

import (
	"slices"
	"time"
)

// LaneSwitch is an operator's word on the lane.
type LaneSwitch string

const (
	// LaneAuto follows the rules.
	LaneAuto LaneSwitch = ""
	// LaneFast forces the fast lane.
	LaneFast LaneSwitch = "fast"
	// LaneSlow forces the slow lane.
	LaneSlow LaneSwitch = "slow"
)

func (s LaneSwitch) known() bool { return s == LaneAuto || s == LaneFast || s == LaneSlow }

// Lane is how soon a change of a code is pushed. Interval 0 is the fast lane;
// otherwise a push is due not before the last commit + Interval.
type Lane struct {
	Interval time.Duration
}

// Slow reports whether the lane delays pushes.
func (l Lane) Slow() bool { return l.Interval > 0 }

// NotBefore returns the earliest instant of a push after one at last.
func (l Lane) NotBefore(last time.Time) time.Time { return last.Add(l.Interval) }

// LaneRules say which codes are pushed at once and how often the others are.
// The zero value puts every code in the fast lane.
type LaneRules struct {
	// FastFor keeps a code in the fast lane for so long after its creation or
	// its latest update, whichever is later. 0 or less: age does not help.
	FastFor time.Duration
	// FastTiers are the tenant tiers that are always fast.
	FastTiers []string
	// SlowInterval is the least time between two pushes of a slow code; 0 or
	// less switches the slow lane off, even for an operator's switch.
	SlowInterval time.Duration
}

// Lane returns the lane of a code at now, and until when that holds while
// only time passes; zero: for ever. The first of these that applies decides:
// the operator's switch on the code, the switch on the tenant, the whitelist,
// the tier, the age.
func (r LaneRules) Lane(code Code, tenant Tenant, now time.Time) (Lane, time.Time) {
	return r.lane(&code, &tenant, now)
}

func (r *LaneRules) lane(code *Code, tenant *Tenant, now time.Time) (Lane, time.Time) {
	slow := Lane{Interval: r.SlowInterval}
	word := code.Lane
	if word == LaneAuto {
		word = tenant.Lane
	}
	switch {
	case !slow.Slow(), word == LaneFast:
		return Lane{}, time.Time{}
	case word == LaneSlow:
		return slow, time.Time{}
	case tenant.Whitelisted, slices.Contains(r.FastTiers, tenant.Tier):
		return Lane{}, time.Time{}
	}
	touched := code.CreatedAt
	if code.UpdatedAt.After(touched) {
		touched = code.UpdatedAt
	}
	if until := touched.Add(max(r.FastFor, 0)); now.Before(until) {
		return Lane{}, until
	}
	return slow, time.Time{}
}
