package quotatest

import (
	"context"
	"maps"
	"time"

	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// inactiveFor is how long an inactive account leaves its member out; no refusal
// does for as long.
const inactiveFor = 10 * 365 * 24 * time.Hour

// MarkRemoved marks a staff member as removed for the rest of a day, unless he
// is for that day or a later one.
func (s *Store) MarkRemoved(ctx context.Context, tenant, staff string, day roster.Day, by string) (string, error) {
	winner := ""
	err := s.locked(ctx, OpMarkRemoved, func() {
		who := s.staff[member{tenant, staff}]
		if who == nil {
			return
		}
		if who.RemovedOn < day {
			who.RemovedOn, who.removedBy = day, by
		}
		if who.RemovedOn == day {
			winner = who.removedBy
		}
	})
	if err != nil {
		return "", err
	}
	return winner, nil
}

// Apply writes a change of a staff member, unless a later one was written
// before.
func (s *Store) Apply(ctx context.Context, change quota.StaffChange) (quota.Staffing, error) {
	if change.Renamed != "" {
		if err := s.locked(ctx, OpCopy, func() { s.copyStaff(change) }); err != nil {
			return "", err
		}
	}
	staffing := quota.Unlisted
	err := s.locked(ctx, OpApply, func() {
		who := s.staff[member{change.Tenant, change.Staff}]
		switch {
		case who == nil:
		case change.At.Before(who.toldAt):
			staffing = quota.Outdated
		default:
			staffing, who.toldAt = quota.Applied, change.At
			s.stand(who, change)
		}
	})
	if err != nil {
		return "", err
	}
	if staffing != quota.Applied || change.Standing != quota.Active {
		return staffing, nil
	}
	err = s.locked(ctx, OpEndQuarantine, func() {
		if who := s.staff[member{change.Tenant, change.Staff}]; who.QuarantinedUntil.After(s.Now().Add(inactiveFor / 2)) {
			who.QuarantinedUntil = time.Time{}
		}
	})
	return staffing, err
}

func (s *Store) stand(who *person, change quota.StaffChange) {
	switch {
	case change.Renamed != "", change.Standing == quota.Gone:
		who.Resigned = true
	case change.Standing == quota.Active:
		who.Resigned = false
	case change.Standing == quota.Inactive:
		who.QuarantinedUntil = stored(s.Now().Add(inactiveFor))
	}
}

// copyStaff gives the new name what is known of the old one, unless the new one
// is known already.
func (s *Store) copyStaff(change quota.StaffChange) {
	old, renamed := s.staff[member{change.Tenant, change.Staff}], member{change.Tenant, change.Renamed}
	if old == nil || s.staff[renamed] != nil {
		return
	}
	who := *old
	who.ID = change.Renamed
	who.Added, who.counted = maps.Clone(old.Added), maps.Clone(old.counted)
	s.staff[renamed] = &who
}
