package mongostore

import (
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// staffDoc is a document of the collection staff (docs/facts.md).
type staffDoc struct {
	ID               string         `bson:"_id"` // tenant/staff
	Resigned         bool           `bson:"resigned,omitempty"`
	Presence         string         `bson:"presence,omitempty"`
	Schedule         *scheduleDoc   `bson:"schedule,omitempty"`
	QuarantinedUntil time.Time      `bson:"quarantined_until,omitempty"`
	Off              stopDoc        `bson:"taken_off,omitempty"` // an operator's
	RemovedOn        string         `bson:"removed_on,omitempty"`
	Added            map[string]int `bson:"added,omitempty"` // by day
}

type scheduleDoc struct {
	TimeZone string                `bson:"time_zone,omitempty"`
	Weekly   [][]shiftDoc          `bson:"weekly"` // Sunday first
	Special  map[string][]shiftDoc `bson:"special,omitempty"`
}

type shiftDoc struct {
	From int `bson:"from"`
	To   int `bson:"to"`
}

// staffFields are the fields that a verdict needs, the additions apart.
var staffFields = []string{"resigned", "presence", "schedule", "quarantined_until", "removed_on"}

func (d staffDoc) staff() (roster.Staff, error) {
	_, id, _ := strings.Cut(d.ID, "/")
	s := roster.Staff{
		ID:               id,
		Resigned:         d.Resigned,
		Presence:         roster.Presence(d.Presence),
		QuarantinedUntil: utc(d.QuarantinedUntil),
		Off:              d.Off.stop(),
		RemovedOn:        roster.Day(d.RemovedOn),
	}
	if len(d.Added) > 0 {
		s.Added = make(map[roster.Day]int, len(d.Added))
		for day, n := range d.Added {
			s.Added[roster.Day(day)] = n
		}
	}
	if d.Schedule == nil {
		return s, nil
	}
	schedule, err := d.Schedule.schedule()
	if err != nil {
		return roster.Staff{}, fmt.Errorf("staff %s: %w", d.ID, err)
	}
	s.Schedule = &schedule
	return s, nil
}

func (d scheduleDoc) schedule() (roster.Schedule, error) {
	s := roster.Schedule{TimeZone: d.TimeZone}
	if len(d.Weekly) > len(s.Weekly) {
		return s, fmt.Errorf("schedule of %d weekdays", len(d.Weekly))
	}
	for i, shifts := range d.Weekly {
		s.Weekly[i] = shiftsOf(shifts)
	}
	if len(d.Special) > 0 {
		s.Special = make(map[roster.Day][]roster.Shift, len(d.Special))
		for day, shifts := range d.Special {
			s.Special[roster.Day(day)] = shiftsOf(shifts)
		}
	}
	return s, nil
}

func shiftsOf(docs []shiftDoc) []roster.Shift {
	var shifts []roster.Shift
	for _, d := range docs {
		shifts = append(shifts, roster.Shift(d))
	}
	return shifts
}

func scheduleDocOf(s roster.Schedule) scheduleDoc {
	d := scheduleDoc{TimeZone: s.TimeZone, Weekly: make([][]shiftDoc, len(s.Weekly))}
	for i, shifts := range s.Weekly {
		d.Weekly[i] = shiftDocsOf(shifts)
	}
	if len(s.Special) > 0 {
		d.Special = make(map[string][]shiftDoc, len(s.Special))
		for day, shifts := range s.Special {
			d.Special[string(day)] = shiftDocsOf(shifts)
		}
	}
	return d
}

// shiftDocsOf never returns nil: a day without shifts is an empty array.
func shiftDocsOf(shifts []roster.Shift) []shiftDoc {
	docs := make([]shiftDoc, 0, len(shifts))
	for _, s := range shifts {
		docs = append(docs, shiftDoc(s))
	}
	return docs
}

// utc gives a stored instant the location that the rest of the code uses; a
// missing one stays zero.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}

// staffDocOf leaves the additions out: they are counted, not set.
func staffDocOf(tenant string, s roster.Staff) staffDoc {
	d := staffDoc{
		ID:               scoped(tenant, s.ID),
		Resigned:         s.Resigned,
		Presence:         string(s.Presence),
		QuarantinedUntil: s.QuarantinedUntil,
		RemovedOn:        string(s.RemovedOn),
	}
	if s.Schedule != nil {
		schedule := scheduleDocOf(*s.Schedule)
		d.Schedule = &schedule
	}
	return d
}
