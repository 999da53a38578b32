package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// detail is the fact that a judgement rests on, in words.
func detail(facts roster.Facts, j roster.Judgement, now time.Time) string {
	if j.Reason == "" {
		return "the code does not name him"
	}
	loc, err := facts.Tenant.Location()
	if err != nil {
		loc = time.UTC
	}
	w := witness{facts: facts, id: j.Staff, staff: facts.Staff[j.Staff], today: roster.DayOf(now, loc), loc: loc}
	why := j.Reason
	if j.Included && j.Despite != "" {
		why = j.Despite
	}
	return w.says(why)
}

// witness knows the facts of one staff member on one code.
type witness struct {
	facts roster.Facts
	id    string
	staff roster.Staff
	today roster.Day
	loc   *time.Location
}

func (w witness) says(why reason.Reason) string {
	m := w.member()
	c := w.facts.Counters
	switch why {
	case reason.Eligible:
		return w.room(m)
	case reason.Offline:
		return "his online flag says offline"
	case reason.OffDuty:
		return "he has no shift now, by the clock of " + w.zone()
	case reason.AtAddLimit:
		return fmt.Sprintf("%d of %d additions on this code", c.Total[w.id], m.AddLimit)
	case reason.AtDailyLimit:
		return fmt.Sprintf("%d of %d additions on this code today", c.Days[w.today][w.id], m.DailyLimit)
	case reason.AtRoundLimit:
		return fmt.Sprintf("%d of %d additions in round %d", c.InRound[w.id], m.RoundLimit, c.Round)
	case reason.AtCompanyLimit:
		return fmt.Sprintf("%d of %d additions today, over all codes", w.staff.Added[w.today], w.facts.Tenant.DailyTotal)
	case reason.TakenOff:
		return stopped("taken off every list", w.staff.Off, w.loc)
	case reason.Quarantined:
		return "WeCom refuses him; he is tried again at " + w.staff.QuarantinedUntil.In(w.loc).Format(time.DateTime)
	case reason.RemovedToday:
		return "he reached a ceiling and is off every list until midnight, " + w.loc.String()
	case reason.StaffMissing:
		return "the code names him, and no such staff member is known"
	case reason.OverMemberCap:
		return fmt.Sprintf("WeCom takes %d members", roster.MaxListed)
	}
	return ""
}

// stopped says since when, until when, by whom and why something was stopped.
func stopped(what string, s roster.Stop, loc *time.Location) string {
	until := "until it is released"
	if !s.Until.IsZero() {
		until = "until " + s.Until.In(loc).Format(time.DateTime)
	}
	return fmt.Sprintf("%s since %s, %s, by %s: %s", what, s.Since.In(loc).Format(time.DateTime), until, s.By, s.Why)
}

func (w witness) member() roster.Member {
	i := slices.IndexFunc(w.facts.Code.Members, func(m roster.Member) bool { return m.Staff == w.id })
	if i < 0 {
		return roster.Member{Staff: w.id}
	}
	return w.facts.Code.Members[i]
}

func (w witness) zone() string {
	if w.staff.Schedule != nil && w.staff.Schedule.TimeZone != "" {
		return w.staff.Schedule.TimeZone
	}
	return w.loc.String()
}

// room is how near he is to the ceilings that are in force.
func (w witness) room(m roster.Member) string {
	var parts []string
	count := func(on bool, have, limit int, of string) {
		if on && limit > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d %s", have, limit, of))
		}
	}
	s, c := w.facts.Code.Switches, w.facts.Counters
	count(s.AddLimit, c.Total[w.id], m.AddLimit, "ever")
	count(s.DailyLimit, c.Days[w.today][w.id], m.DailyLimit, "today")
	count(s.RoundLimit, c.InRound[w.id], m.RoundLimit, "this round")
	count(true, w.staff.Added[w.today], w.facts.Tenant.DailyTotal, "today over all codes")
	return strings.Join(parts, ", ")
}
