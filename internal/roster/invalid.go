package roster

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// ErrInvalid is wrapped by every error of Decide: the facts contradict
// themselves, and trying again without another edit is useless.
var ErrInvalid = errors.New("invalid facts")

// InvalidError names the fact that cannot be true.
type InvalidError struct {
	Field string // where, e.g. "code.members[2].daily_limit"
	Value string // what it says
	Want  string // what it should be
}

// Error names the field, its value and what was wanted instead.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("%v: %s is %q, want %s", ErrInvalid, e.Field, e.Value, e.Want)
}

// Unwrap returns ErrInvalid.
func (e *InvalidError) Unwrap() error { return ErrInvalid }

func invalid(field, value, want string) error {
	return &InvalidError{Field: field, Value: value, Want: want}
}

// maxText is the most characters of a remark or a state (WeCom's page 96348).
const maxText = 30

// check reports the first contradiction in what the code says of itself.
func (c *Code) check() error {
	if !c.Family.Rotates() && c.Family != Native {
		return invalid("code.family", string(c.Family), "native, sequenced or quota")
	}
	if c.OnEmpty != "" && c.OnEmpty != KeepLast && c.OnEmpty != TenantFallback {
		return invalid("code.on_empty", string(c.OnEmpty), "keep or tenant_fallback")
	}
	if !c.Lane.known() {
		return invalid("code.lane", string(c.Lane), wantLane)
	}
	if !c.Mode.known() {
		return invalid("code.mode", string(c.Mode), wantMode)
	}
	if tooLong(c.Remark) {
		return invalid("code.remark", c.Remark, "at most 30 characters")
	}
	if tooLong(c.State) {
		return invalid("code.state", c.State, "at most 30 characters")
	}
	for i := range c.Members {
		if err := c.Members[i].check(i); err != nil {
			return err
		}
	}
	return nil
}

func (m *Member) check(i int) error {
	if m.AddLimit|m.DailyLimit|m.RoundLimit >= 0 { // no sign bit among them
		return nil
	}
	field, value := "add_limit", m.AddLimit
	switch {
	case m.AddLimit < 0:
	case m.DailyLimit < 0:
		field, value = "daily_limit", m.DailyLimit
	default:
		field, value = "round_limit", m.RoundLimit
	}
	return invalid(fmt.Sprintf("code.members[%d].%s", i, field), strconv.Itoa(value), "0 or more")
}

// check reports the first contradiction in the tenant, its time zone aside.
func (t *Tenant) check() error {
	if t.DailyTotal < 0 {
		return invalid("tenant.daily_total", strconv.Itoa(t.DailyTotal), "0 or more")
	}
	if !t.Lane.known() {
		return invalid("tenant.lane", string(t.Lane), wantLane)
	}
	if !t.Mode.known() {
		return invalid("tenant.mode", string(t.Mode), wantMode)
	}
	if share := t.MaxRemovalShare; !(share >= 0 && share <= 1) { // NaN is neither
		return invalid("tenant.max_removal_share", strconv.FormatFloat(share, 'g', -1, 64), "more than 0 and at most 1, or 0 for the default")
	}
	return nil
}

// check reports the first contradiction in what the rules of a code read of
// a staff member. The schedule is read only by the offline check.
func (s *Staff) check(id string, switches Switches) error {
	if s.RemovedOn != "" && !s.RemovedOn.valid() {
		return invalid(staffField(id, "removed_on"), string(s.RemovedOn), wantDay)
	}
	if !switches.OfflineCheck {
		return nil
	}
	switch s.Presence {
	case PresenceUnset, Online, OfflineNow:
	default:
		return invalid(staffField(id, "presence"), string(s.Presence), "online, offline or nothing")
	}
	if s.Schedule == nil {
		return nil
	}
	return s.Schedule.check(id)
}

const (
	wantLane = "fast, slow or nothing"
	wantMode = "live, shadow or nothing"
	wantDay  = "a day of the calendar as YYYYMMDD"
	wantZone = "the IANA name of a time zone"
)

func staffField(id, field string) string { return fmt.Sprintf("staff[%s].%s", id, field) }

func tooLong(s string) bool { return len(s) > maxText && utf8.RuneCountInString(s) > maxText }
