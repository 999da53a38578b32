package mongostore

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// countersDoc is a document of the collection counters (docs/facts.md). The
// names of its innermost fields are staff IDs as fieldName encodes them.
type countersDoc struct {
	ID      string                    `bson:"_id"`
	Tenant  string                    `bson:"tenant"`
	Total   map[string]int            `bson:"total,omitempty"`
	Days    map[string]map[string]int `bson:"days,omitempty"`
	Round   int64                     `bson:"round"`
	InRound map[string]int            `bson:"in_round,omitempty"`
}

// countersFields are the fields that a verdict needs, the days apart.
var countersFields = []string{"total", "round", "in_round"}

func (d countersDoc) counters() roster.Counters {
	c := roster.Counters{Total: byStaff(d.Total), Round: d.Round, InRound: byStaff(d.InRound)}
	for day, counts := range d.Days {
		if len(counts) == 0 {
			continue
		}
		if c.Days == nil {
			c.Days = map[roster.Day]map[string]int{}
		}
		c.Days[roster.Day(day)] = byStaff(counts)
	}
	return c
}

func byStaff(fields map[string]int) map[string]int {
	if len(fields) == 0 {
		return nil
	}
	counts := make(map[string]int, len(fields))
	for field, n := range fields {
		counts[staffOf(field)] = n
	}
	return counts
}

// daysAround returns the calendar days that may be "today" somewhere at now:
// the day in UTC, the one before and the one after. No zone is further from
// UTC than 14 hours, so a clock may be wrong by nine hours before the tenant's
// day is missed; and the tenant, whose zone is not known yet when the counters
// are read, need not be awaited.
func daysAround(now time.Time) [3]roster.Day {
	var days [3]roster.Day
	for i := range days {
		days[i] = roster.DayOf(now.AddDate(0, 0, i-1), time.UTC)
	}
	return days
}
