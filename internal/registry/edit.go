package registry

import (
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// TenantEdit changes a tenant, or makes one.
type TenantEdit struct {
	Tenant          string
	TimeZone        Change[string]
	DailyTotal      Change[int]
	Fallback        Change[[]string]
	Tier            Change[string]
	Whitelisted     Change[bool]
	MaxRemovalShare Change[float64]
	Lane            Change[roster.LaneSwitch]
	Mode            Change[roster.Mode] // a switch: it raises the term
	Hold            Change[roster.Stop]
}

// Of returns the tenant after the edit.
func (e TenantEdit) Of(t roster.Tenant) roster.Tenant {
	t.ID = e.Tenant
	e.TimeZone.apply(&t.TimeZone)
	e.DailyTotal.apply(&t.DailyTotal)
	e.Fallback.apply(&t.Fallback)
	e.Tier.apply(&t.Tier)
	e.Whitelisted.apply(&t.Whitelisted)
	e.MaxRemovalShare.apply(&t.MaxRemovalShare)
	e.Lane.apply(&t.Lane)
	e.Hold.apply(&t.Hold)
	e.Mode.apply(&t.Mode)
	if e.Mode.given {
		t.Term++
	}
	return t
}

// StaffEdit changes a staff member, or makes one.
type StaffEdit struct {
	Staff    string
	Schedule Change[*roster.Schedule] // nil: always on duty
	Presence Change[roster.Presence]
	Resigned Change[bool]
	Off      Change[roster.Stop]
	// Readmit ends a quarantine.
	Readmit bool
}

// Of returns the staff member after the edit.
func (e StaffEdit) Of(s roster.Staff) roster.Staff {
	s.ID = e.Staff
	e.Schedule.apply(&s.Schedule)
	e.Presence.apply(&s.Presence)
	e.Resigned.apply(&s.Resigned)
	e.Off.apply(&s.Off)
	if e.Readmit {
		s.QuarantinedUntil = roster.Staff{}.QuarantinedUntil
	}
	return s
}

// CodeEdit changes a code, or makes one.
type CodeEdit struct {
	Code       string
	ConfigID   Change[string]
	Family     Change[roster.Family]
	Members    Change[[]roster.Member]
	Backups    Change[[]string]
	Switches   Change[roster.Switches]
	OnEmpty    Change[roster.EmptyPolicy]
	Lane       Change[roster.LaneSwitch]
	Mode       Change[roster.Mode] // a switch: it raises the term
	Remark     Change[string]
	State      Change[string]
	SkipVerify Change[bool]
	Deleted    Change[bool]
}

// Of returns the code after the edit, its revision and its times aside.
func (e CodeEdit) Of(c roster.Code) roster.Code {
	c.ID = e.Code
	e.ConfigID.apply(&c.ConfigID)
	e.Family.apply(&c.Family)
	e.Members.apply(&c.Members)
	e.Backups.apply(&c.Backups)
	e.Switches.apply(&c.Switches)
	e.OnEmpty.apply(&c.OnEmpty)
	e.Lane.apply(&c.Lane)
	e.Mode.apply(&c.Mode)
	if e.Mode.given {
		c.Term++
	}
	e.Remark.apply(&c.Remark)
	e.State.apply(&c.State)
	e.SkipVerify.apply(&c.SkipVerify)
	e.Deleted.apply(&c.Deleted)
	return c
}
