package roster_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// worksAt says whether a wall clock in the schedule's zone shows a time within
// a shift: the definition of duty, put plainly.
func worksAt(s *roster.Schedule, tenantZone string, at time.Time) bool {
	name := s.TimeZone
	if name == "" {
		name = tenantZone
	}
	local := at.In(zone(name))
	// Calendar days have no length here: noon is far from every transition.
	noon := time.Date(local.Year(), local.Month(), local.Day(), 12, 0, 0, 0, time.UTC)
	minute := local.Hour()*60 + local.Minute()
	return holds(s, noon, minute) || holds(s, noon.AddDate(0, 0, -1), minute+1440)
}

func holds(s *roster.Schedule, noon time.Time, minute int) bool {
	shifts, special := s.Special[roster.DayOf(noon, time.UTC)]
	if !special {
		shifts = s.Weekly[noon.Weekday()]
	}
	for _, shift := range shifts {
		if shift.From <= minute && minute < shift.To {
			return true
		}
	}
	return false
}

// Duty and its next change are what trying minute after minute finds.
func TestDutyIsTheWallClock(t *testing.T) {
	t.Parallel()
	rapid.Check(t, dutyIsTheWallClock)
}

func FuzzDuty(f *testing.F) { f.Fuzz(rapid.MakeFuzz(dutyIsTheWallClock)) }

func FuzzNextChange(f *testing.F) { f.Fuzz(rapid.MakeFuzz(nextChangeIsExact)) }

func dutyIsTheWallClock(t *rapid.T) {
	m := oneOf(t, "moment", moments...)
	now := m.at.Add(time.Duration(draw(t, rapid.IntRange(-30*3600, 30*3600), "offset")) * time.Second)
	s := drawSchedule(t, now, rapid.SampledFrom([]int{1, 7, 30, 720, 1440}))
	w := world{Now: now, Facts: roster.Facts{
		Code: roster.Code{
			Family: roster.Native, Members: []roster.Member{{Staff: "a"}},
			Switches: roster.Switches{OfflineCheck: true},
		},
		Tenant: roster.Tenant{TimeZone: m.zone},
		Staff:  map[string]roster.Staff{"a": {ID: "a", Schedule: s}},
	}}
	v := decide(t, w)
	on := len(v.Members) == 1
	if on != worksAt(s, m.zone, now) {
		t.Fatalf("on duty at %v: %v", now, on)
	}
	const days = 3
	for at := now.Truncate(time.Minute).Add(time.Minute); at.Before(now.AddDate(0, 0, days)); at = at.Add(time.Minute) {
		changed := worksAt(s, m.zone, at) != on
		if changed != at.Equal(v.NextChange) {
			t.Fatalf("at %v duty has changed: %v; expected %v, from %v at %v", at, changed, v.NextChange, on, now)
		}
		if changed {
			return
		}
	}
}

// Transitions that no test of a few days reaches.
func TestDutyChangesFarAhead(t *testing.T) {
	t.Parallel()
	at := utc(2026, 3, 2, 4)
	allWeek := [7][]roster.Shift{}
	for day := range allWeek {
		allWeek[day] = []roster.Shift{{From: 0, To: 1440}}
	}
	vacation := map[roster.Day][]roster.Shift{}
	for day := at; day.Before(at.AddDate(0, 0, 40)); day = day.AddDate(0, 0, 1) {
		vacation[roster.DayOf(day, time.UTC)] = nil
	}
	fair := map[roster.Day][]roster.Shift{}
	for day := at; day.Before(at.AddDate(0, 0, 10)); day = day.AddDate(0, 0, 1) {
		fair[roster.DayOf(day, time.UTC)] = []roster.Shift{{From: 0, To: 1440}}
	}
	onlyThursdays := [7][]roster.Shift{4: {{From: 0, To: 1440}}}
	onlyMondays := [7][]roster.Shift{1: {{From: 540, To: 600}}}
	tests := []struct {
		name     string
		schedule roster.Schedule
		want     time.Time
	}{
		{"never on duty", roster.Schedule{}, time.Time{}},
		{"always on duty", roster.Schedule{Weekly: allWeek}, time.Time{}},
		{"always on duty where clocks move", roster.Schedule{TimeZone: "Europe/Berlin", Weekly: allWeek}, time.Time{}},
		{
			"a holiday in years",
			roster.Schedule{Weekly: allWeek, Special: map[roster.Day][]roster.Shift{"20391231": nil}},
			time.Date(2039, 12, 31, 0, 0, 0, 0, zone("Asia/Shanghai")),
		},
		{
			"one day of work in years, in summer time",
			roster.Schedule{
				TimeZone: "Europe/Berlin", Special: map[roster.Day][]roster.Shift{"20990701": {{From: 480, To: 960}}},
			},
			time.Date(2099, 7, 1, 8, 0, 0, 0, zone("Europe/Berlin")),
		},
		{"special days in the past only", roster.Schedule{Special: map[roster.Day][]roster.Shift{"20200101": {{From: 0, To: 60}}}}, time.Time{}},
		{"a special day that changes nothing", roster.Schedule{Weekly: allWeek, Special: map[roster.Day][]roster.Shift{"20260601": {{From: 0, To: 1440}}}}, time.Time{}},
		{
			"a fair of ten days and the Thursday after it",
			roster.Schedule{Weekly: onlyThursdays, Special: fair},
			time.Date(2026, 3, 13, 0, 0, 0, 0, zone("Asia/Shanghai")),
		},
		{
			"vacation for forty days",
			roster.Schedule{Weekly: onlyMondays, Special: vacation},
			time.Date(2026, 4, 13, 9, 0, 0, 0, zone("Asia/Shanghai")),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := decide(t, world{Now: at, Facts: roster.Facts{
				Code: roster.Code{
					Family: roster.Native, Members: []roster.Member{{Staff: "a"}},
					Switches: roster.Switches{OfflineCheck: true},
				},
				Staff: map[string]roster.Staff{"a": {ID: "a", Schedule: &tt.schedule}},
			}})
			if !v.NextChange.Equal(tt.want) {
				t.Errorf("next change %v, want %v", v.NextChange, tt.want)
			}
		})
	}
}
