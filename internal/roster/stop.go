package roster

import "time"

// Stop is an operator's word that something does not go on: the pushes of a code
// or a tenant, a staff member's place on every list. The zero value is none.
type Stop struct {
	Since time.Time
	Until time.Time // it ends by itself then; zero: when somebody releases it
	By    string    // the operator
	Why   string    // his reason
}

// Active reports whether the stop is in force at now.
func (s Stop) Active(now time.Time) bool {
	return !s.Since.IsZero() && (s.Until.IsZero() || s.Until.After(now))
}

// Hold returns the hold that keeps the code's list at WeCom as it is at now: of
// its own and its tenant's the one that lasts longer. The zero Stop is none.
func (f *Facts) Hold(now time.Time) Stop {
	code, tenant := f.Code.Hold, f.Tenant.Hold
	switch {
	case !code.Active(now) && !tenant.Active(now):
		return Stop{}
	case !code.Active(now):
		return tenant
	case !tenant.Active(now), code.Until.IsZero():
		return code
	case tenant.Until.IsZero() || tenant.Until.After(code.Until):
		return tenant
	}
	return code
}
