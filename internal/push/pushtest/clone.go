package pushtest

import (
	"maps"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// What goes into a fake and what comes out of it shares no memory, as with a
// real store; and like MongoDB's dates, instants keep their milliseconds only.

func stored(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}

func cloneTenant(t roster.Tenant) roster.Tenant {
	t.Fallback = slices.Clone(t.Fallback)
	return t
}

func cloneCode(c roster.Code) roster.Code {
	c.Members = slices.Clone(c.Members)
	c.Backups = slices.Clone(c.Backups)
	c.CreatedAt, c.UpdatedAt = stored(c.CreatedAt), stored(c.UpdatedAt)
	return c
}

func cloneStaff(s roster.Staff) roster.Staff {
	s.Added = maps.Clone(s.Added)
	s.QuarantinedUntil = stored(s.QuarantinedUntil)
	if s.Schedule == nil {
		return s
	}
	schedule := *s.Schedule
	for i, shifts := range schedule.Weekly {
		schedule.Weekly[i] = slices.Clone(shifts)
	}
	schedule.Special = maps.Clone(schedule.Special)
	for day, shifts := range schedule.Special {
		schedule.Special[day] = slices.Clone(shifts)
	}
	s.Schedule = &schedule
	return s
}

func cloneCounters(c roster.Counters) roster.Counters {
	c.Total = maps.Clone(c.Total)
	c.InRound = maps.Clone(c.InRound)
	c.Days = maps.Clone(c.Days)
	for day, byStaff := range c.Days {
		c.Days[day] = maps.Clone(byStaff)
	}
	return c
}

func cloneRecord(r push.Record) push.Record {
	r.Committed = cloneCommitted(r.Committed)
	r.Intents = slices.Clone(r.Intents)
	for i := range r.Intents {
		r.Intents[i].Deadline = stored(r.Intents[i].Deadline)
	}
	r.Failure.NotBefore = stored(r.Failure.NotBefore)
	r.NextChange = stored(r.NextChange)
	r.Search.Suspects = slices.Clone(r.Search.Suspects)
	return r
}

func cloneCommitted(c push.Committed) push.Committed {
	c.Members = slices.Clone(c.Members)
	c.Notes = slices.Clone(c.Notes)
	c.At = stored(c.At)
	return c
}

func cloneSet(s push.Set) push.Set {
	s.Seats = slices.Clone(s.Seats)
	return s
}
