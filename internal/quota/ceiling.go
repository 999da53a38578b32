package quota

import (
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Ceiling is a limit that a staff member has reached.
type Ceiling struct {
	// Kind is AtCompanyLimit, AtDailyLimit or AtAddLimit.
	Kind  reason.Reason
	Count int // additions, this one included
	Limit int
}

// Over is by how many additions the ceiling was passed.
func (c Ceiling) Over() int { return c.Count - c.Limit }

// Everywhere reports whether the ceiling takes the member off every code.
func (c Ceiling) Everywhere() bool { return c.Kind == reason.AtCompanyLimit }

// Counts are what the counters say after an addition.
type Counts struct {
	Total   int // of the member on the code, ever
	OnDay   int // the same, on the addition's day
	Company int // of the member over all codes, on the addition's day
}

// Ceilings returns the limits that a member of a code has reached.
func Ceilings(tenant roster.Tenant, code roster.Code, staff string, counts Counts) []Ceiling {
	var reached []Ceiling
	check := func(kind reason.Reason, count, limit int) {
		if limit > 0 && count >= limit {
			reached = append(reached, Ceiling{Kind: kind, Count: count, Limit: limit})
		}
	}
	check(reason.AtCompanyLimit, counts.Company, tenant.DailyTotal)
	for _, member := range code.Members {
		if member.Staff != staff {
			continue
		}
		if code.Switches.DailyLimit {
			check(reason.AtDailyLimit, counts.OnDay, member.DailyLimit)
		}
		if code.Switches.AddLimit {
			check(reason.AtAddLimit, counts.Total, member.AddLimit)
		}
		break
	}
	return reached
}
