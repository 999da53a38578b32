package roster

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// standing is what the rules say of one person, the round limit aside: the
// first rule that keeps him off the list, or "" and the room he has left.
type standing struct {
	bar                reason.Reason
	room, roomTomorrow int
}

// judge applies the rules in their order to a staff member. limits is nil for
// backups and fallback staff: the code's own limits do not hold for them.
// Instants at which time alone changes the answer are noted.
func (d *decider) judge(id string, s *Staff, known bool, limits *Member) standing {
	bar := d.company(s, known)
	if bar == "" {
		bar = d.duty(s)
	}
	if bar == "" && limits != nil {
		bar = d.ownLimits(id, limits)
	}
	if bar != "" {
		return standing{bar: bar}
	}
	if !d.facts.Code.Family.Rotates() {
		return standing{room: noCeiling, roomTomorrow: noCeiling}
	}
	st := standing{room: d.room(id, s, limits, d.today, d.addedToday)}
	st.roomTomorrow = st.room
	if d.byDay(limits) {
		st.roomTomorrow = d.room(id, s, limits, "", nil)
		_, tomorrow := d.midnight()
		if s.Added[tomorrow] != 0 || d.addedTomorrow[id] != 0 {
			d.changesAtMidnight() // and after the day that follows, again
		}
	}
	return st
}

// company applies what holds on every code of the tenant.
func (d *decider) company(s *Staff, known bool) reason.Reason {
	switch {
	case !known:
		return reason.StaffMissing
	case s.Resigned:
		return reason.Resigned
	case s.Off.Active(d.now):
		if !s.Off.Until.IsZero() {
			d.changesAt(s.Off.Until)
		}
		return reason.TakenOff
	case s.QuarantinedUntil.After(d.now):
		d.changesAt(s.QuarantinedUntil)
		return reason.Quarantined
	case s.RemovedOn != "" && s.RemovedOn == d.today:
		d.changesAtMidnight()
		return reason.RemovedToday
	}
	if s.RemovedOn > d.today || s.RemovedOn != "" && d.isTomorrow(s.RemovedOn) {
		d.changesAtMidnight()
	}
	total := d.facts.Tenant.DailyTotal
	if total == 0 {
		return ""
	}
	if s.Added[d.today] >= total {
		d.changesAtMidnight()
		return reason.AtCompanyLimit
	}
	if _, tomorrow := d.midnight(); s.Added[tomorrow] >= total {
		d.changesAtMidnight()
	}
	return ""
}

// duty applies the offline check.
func (d *decider) duty(s *Staff) reason.Reason {
	switch {
	case !d.facts.Code.Switches.OfflineCheck, s.Presence == Online:
		return ""
	case s.Presence == OfflineNow:
		return reason.Offline
	case s.Schedule == nil:
		return ""
	}
	now := s.Schedule.duty(d.clock(s.Schedule.TimeZone))
	if now.changes {
		d.changesAt(time.Unix(now.change, 0))
	}
	if now.on {
		return ""
	}
	return reason.OffDuty
}

// ownLimits applies the limits of a member's place, the round's aside.
func (d *decider) ownLimits(id string, m *Member) reason.Reason {
	switches := &d.facts.Code.Switches
	if switches.AddLimit && m.AddLimit > 0 && d.facts.Counters.Total[id] >= m.AddLimit {
		return reason.AtAddLimit
	}
	if !switches.DailyLimit || m.DailyLimit == 0 {
		return ""
	}
	if d.addedToday[id] >= m.DailyLimit {
		d.changesAtMidnight()
		return reason.AtDailyLimit
	}
	if d.midnight(); d.addedTomorrow[id] >= m.DailyLimit {
		d.changesAtMidnight()
	}
	return ""
}

// byDay reports whether a ceiling that midnight lifts is in force.
func (d *decider) byDay(m *Member) bool {
	return d.facts.Tenant.DailyTotal > 0 || m != nil && d.facts.Code.Switches.DailyLimit && m.DailyLimit > 0
}

// room returns the additions left on day before the nearest ceiling, the
// round's aside; added holds the code's additions of that day. The day "" has
// no additions.
func (d *decider) room(id string, s *Staff, m *Member, day Day, added map[string]int) int {
	room := noCeiling
	if total := d.facts.Tenant.DailyTotal; total > 0 {
		room = max(0, total-s.Added[day])
	}
	if m == nil {
		return room
	}
	switches := &d.facts.Code.Switches
	if switches.AddLimit && m.AddLimit > 0 {
		room = nearer(room, m.AddLimit-d.facts.Counters.Total[id])
	}
	if switches.DailyLimit && m.DailyLimit > 0 {
		room = nearer(room, max(0, m.DailyLimit-added[id]))
	}
	return room
}

// nearer returns the lower of a ceiling, which may be none, and another.
func nearer(room, other int) int {
	if room == noCeiling {
		return other
	}
	return min(room, other)
}

// atRoundLimit reports whether a member has had his share of the round.
func (d *decider) atRoundLimit(id string, m *Member) bool {
	return d.facts.Code.Switches.RoundLimit && m.RoundLimit > 0 && d.facts.Counters.InRound[id] >= m.RoundLimit
}
