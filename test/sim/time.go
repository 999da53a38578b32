package sim

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Facts that time alone changes: shifts and days that end, quarantines that run
// out. Nobody publishes for these but the keeper.

// soon is how far ahead changes by time are part of a run.
const soon = 20 * time.Minute

// hire makes a staff member. In the islands he works in shifts of a minute or
// two around the first minutes of the run, and then for long or no more.
func (w *world) hire(name string) roster.Staff {
	who := roster.Staff{ID: name, Presence: roster.Online}
	if w.profile.zone != islands {
		return who
	}
	const eve, longest = 23*60 + 57, 24 * 60 // the minute before the start, and a shift
	who.Presence = w.presence()
	special := map[roster.Day][]roster.Shift{"20261129": nil, "20261130": nil}
	at := eve + w.rnd.IntN(4)
	for range 1 + w.rnd.IntN(3) {
		shift := roster.Shift{From: at, To: at + 1 + w.rnd.IntN(2)}
		if shift.From >= 24*60 {
			shift.From, shift.To = shift.From-24*60, shift.To-24*60
			special["20261130"] = append(special["20261130"], shift)
		} else {
			special["20261129"] = append(special["20261129"], shift)
		}
		at += 2 + w.rnd.IntN(3)
	}
	if last := special["20261130"]; len(last) > 0 && w.rnd.IntN(2) == 0 {
		last[len(last)-1].To += longest / 2
	}
	who.Schedule = &roster.Schedule{Special: special}
	return who
}

// presence is mostly none: the schedule decides.
func (w *world) presence() roster.Presence {
	if w.profile.zone == islands && w.rnd.IntN(4) > 0 {
		return roster.PresenceUnset
	}
	return roster.Online
}

// forNow writes a fact that time ends: somebody is removed for the day, or is
// in quarantine for some seconds.
func (w *world) forNow(tenant string) {
	who, now := w.outOrAnybody(tenant), w.clock.Now()
	if w.rnd.IntN(3) == 0 {
		today := roster.DayOf(now, time.FixedZone(islands, -2*60*60))
		w.store.EditStaff(tenant, who, func(s *roster.Staff) { s.RemovedOn = today })
		w.note("producer", "%s of %s is removed for %s", who, tenant, today)
	} else {
		until := now.Add(time.Second + w.upTo(20*time.Second))
		w.store.EditStaff(tenant, who, func(s *roster.Staff) { s.QuarantinedUntil = until })
		w.note("producer", "%s of %s is out until %s", who, tenant, w.at(until))
	}
	w.publishAll(tenant)
}

// outOrAnybody is often somebody in quarantine, the end of which is then moved
// and nothing else.
func (w *world) outOrAnybody(tenant string) string {
	for i := range w.profile.staff {
		staff := w.store.Staff(tenant, staffName(i))
		if staff.QuarantinedUntil.After(w.clock.Now()) && w.rnd.IntN(4) > 0 {
			return staff.ID
		}
	}
	return staffName(w.rnd.IntN(w.profile.staff))
}

// skipAhead moves the clock to the next change by time, if there is one soon:
// everybody rests until then.
func (w *world) skipAhead() bool {
	var next time.Time
	for _, ref := range w.codes {
		v, err := roster.Decide(w.store.Peek(ref), w.store.Record(ref).Last(), roster.LaneRules{}, w.clock.Now())
		if err == nil && !v.NextChange.IsZero() && (next.IsZero() || v.NextChange.Before(next)) {
			next = v.NextChange
		}
	}
	if next.IsZero() || next.Sub(w.clock.Now()) > soon {
		return false
	}
	w.note("world", "rests until %s", w.at(next))
	w.clock.Advance(next.Sub(w.clock.Now()))
	return true
}
