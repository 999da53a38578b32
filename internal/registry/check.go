package registry

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rollcall-dev/rollcall/internal/ident"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Limits of what is written. The first is bytes of WeCom's name of a contact
// way; the others are entries, or characters, and keep a document far below what
// MongoDB and one read of the hot path take.
const (
	MaxConfigID = 128

	MaxMembers  = 1000
	MaxBackups  = roster.MaxListed
	MaxFallback = roster.MaxListed
	MaxSpecial  = 400
	MaxShifts   = 24
	MaxTier     = 64
)

// invalid is an error of roster's kind, for what Decide does not look at. Its
// fields are named as the request names them.
func invalid(field, value, want string) error {
	return &roster.InvalidError{Field: field, Value: shown(value), Want: want}
}

// maxShown is how many characters of a refused value are repeated.
const maxShown = 100

func shown(value string) string {
	if utf8.RuneCountInString(value) <= maxShown {
		return value
	}
	return string([]rune(value)[:maxShown]) + "…"
}

// CheckTenantID refuses what is no tenant's ID.
func CheckTenantID(id string) error { return checkPlain("tenant", id, ident.MaxTenant) }

// CheckCodeID refuses what is no code's ID.
func CheckCodeID(id string) error { return checkPlain("code", id, ident.MaxCode) }

// CheckStaffID refuses what is no staff member's ID.
func CheckStaffID(id string) error { return checkStaffID("staff", id) }

func checkPlain(field, id string, limit int) error {
	if id == "" || len(id) > limit || dots(id) || !ident.Plain(id) {
		return invalid(field, id, fmt.Sprintf("1 to %d of the characters A-Z a-z 0-9 . _ : -, not only dots", limit))
	}
	return nil
}

// dots reports whether an ID is a step in a path: a proxy that tidies paths, as
// many do, would make another request of one that names it.
func dots(id string) bool { return id == "." || id == ".." }

func checkStaffID(field, id string) error {
	if id == "" || len(id) > ident.MaxStaff || dots(id) || strings.ContainsRune(id, 0) || !utf8.ValidString(id) {
		return invalid(field, id, fmt.Sprintf("a userid of WeCom: 1 to %d bytes of UTF-8 without a zero byte, not only dots", ident.MaxStaff))
	}
	return nil
}

func checkStaffIDs(field string, ids []string, limit int) error {
	if err := checkCount(field, len(ids), limit); err != nil {
		return err
	}
	for i, id := range ids {
		if err := checkStaffID(fmt.Sprintf("%s[%d]", field, i), id); err != nil {
			return err
		}
	}
	return nil
}

func checkCount(field string, n, limit int) error {
	if n > limit {
		return invalid(field, strconv.Itoa(n)+" entries", fmt.Sprintf("at most %d entries", limit))
	}
	return nil
}

// decided asks Decide itself, so that no fact gets in that it would refuse. The
// instant is of no matter to that.
func decided(facts roster.Facts) error {
	_, err := roster.Decide(facts, roster.Last{}, roster.LaneRules{}, time.Unix(0, 0))
	wrong, ok := errors.AsType[*roster.InvalidError](err)
	if !ok {
		return err
	}
	return invalid(ownField(wrong.Field), wrong.Value, wrong.Want)
}

// ownField turns Decide's name of a field into the request's: the part that says
// whose it is goes.
func ownField(field string) string {
	if rest, staff := strings.CutPrefix(field, "staff["); staff {
		if at := strings.LastIndex(rest, "]."); at >= 0 {
			return rest[at+2:]
		}
	}
	for _, whose := range []string{"code.", "tenant."} {
		if own, found := strings.CutPrefix(field, whose); found {
			return own
		}
	}
	return field
}

// checkTenant reports the first fact of a tenant that cannot be true.
func checkTenant(t roster.Tenant) error {
	if err := CheckTenantID(t.ID); err != nil {
		return err
	}
	if err := checkStaffIDs("fallback", t.Fallback, MaxFallback); err != nil {
		return err
	}
	if utf8.RuneCountInString(t.Tier) > MaxTier {
		return invalid("tier", t.Tier, fmt.Sprintf("at most %d characters", MaxTier))
	}
	return decided(roster.Facts{Code: roster.Code{Family: roster.Native}, Tenant: t})
}

// checkStaff reports the first fact of a staff member that cannot be true.
func checkStaff(s roster.Staff) error {
	if err := CheckStaffID(s.ID); err != nil {
		return err
	}
	if s.Schedule != nil {
		if err := checkSchedule(*s.Schedule); err != nil {
			return err
		}
	}
	return decided(roster.Facts{
		Code: roster.Code{
			Family: roster.Native, Members: []roster.Member{{Staff: s.ID}}, Switches: roster.Switches{OfflineCheck: true},
		},
		Staff: map[string]roster.Staff{s.ID: s},
	})
}

func checkSchedule(s roster.Schedule) error {
	if err := checkCount("schedule.special", len(s.Special), MaxSpecial); err != nil {
		return err
	}
	for weekday, shifts := range s.Weekly {
		if err := checkCount(fmt.Sprintf("schedule.weekly[%d]", weekday), len(shifts), MaxShifts); err != nil {
			return err
		}
	}
	for day, shifts := range s.Special {
		if err := checkCount(fmt.Sprintf("schedule.special[%s]", day), len(shifts), MaxShifts); err != nil {
			return err
		}
	}
	return nil
}

// CheckCode refuses facts of a code that cannot be true.
func CheckCode(c roster.Code) error { return checkCode(c) }

// checkCode reports the first fact of a code that cannot be true.
func checkCode(c roster.Code) error {
	if err := CheckCodeID(c.ID); err != nil {
		return err
	}
	if err := checkCount("members", len(c.Members), MaxMembers); err != nil {
		return err
	}
	for i, m := range c.Members {
		if err := checkStaffID(fmt.Sprintf("members[%d].staff", i), m.Staff); err != nil {
			return err
		}
	}
	if err := checkStaffIDs("backups", c.Backups, MaxBackups); err != nil {
		return err
	}
	if len(c.ConfigID) > MaxConfigID || strings.IndexFunc(c.ConfigID, notPrintable) >= 0 {
		return invalid("config_id", c.ConfigID, fmt.Sprintf("WeCom's config_id, at most %d bytes of ASCII", MaxConfigID))
	}
	asked := c
	asked.Deleted = false // of a deleted code Decide looks at nothing
	return decided(roster.Facts{Code: asked})
}

func notPrintable(r rune) bool { return r <= ' ' || r > '~' }
