package roster

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// decider holds one decision while it is made.
type decider struct {
	facts *Facts
	last  *Last
	now   time.Time

	tenant     wallClock
	others     []*wallClock   // of schedules in other zones
	today      Day            // in the tenant's zone
	addedToday map[string]int // the code's additions

	people []person
	order  []entry  // each person's first place, sorted by staff ID
	prior  []string // the last list, sorted and without repetition

	listed   int
	open     int  // members that nothing but the round keeps off the list
	full     int  // those of them at their round limit
	advanced bool // a new round begins
	reserves bool // nobody of the members was left: backups were considered
	keeping  bool // nobody else was left either: the list is what can be kept
	notes    []reason.Reason

	change        time.Time      // the earliest instant noted; zero: none
	turnover      time.Time      // the tenant's next change of day, once asked for
	tomorrow      Day            // the day it brings
	addedTomorrow map[string]int // the code's additions dated so
}

// begin checks the code and the tenant and lays out the people.
func (d *decider) begin() error {
	if err := d.facts.Code.check(); err != nil {
		return err
	}
	tenant := &d.facts.Tenant
	if err := tenant.check(); err != nil {
		return err
	}
	zone, err := tenant.Location()
	if err != nil {
		return err
	}
	d.tenant = wallClockAt(tenant.zone(), zone, d.now)
	d.today = d.tenant.dayName(d.tenant.day)
	d.addedToday = d.facts.Counters.Days[d.today]
	d.prior = sortedOnce(d.last.Members)
	d.gather()
	return nil
}

// check reports the first contradiction in what the code's rules read of a
// staff member, and opens the clock of his schedule's zone.
func (d *decider) check(id string, s *Staff) error {
	switches := d.facts.Code.Switches
	if err := s.check(id, switches); err != nil {
		return err
	}
	if s.Schedule == nil || !switches.OfflineCheck {
		return nil
	}
	name := s.Schedule.TimeZone
	if d.clock(name) != nil {
		return nil
	}
	zone, ok := location(name)
	if !ok {
		return invalid(staffField(id, "schedule.time_zone"), name, wantZone)
	}
	clock := wallClockAt(name, zone, d.now)
	d.others = append(d.others, &clock)
	return nil
}

// clock returns the opened clock of a schedule's zone; nil when it is not
// open yet.
func (d *decider) clock(name string) *wallClock {
	if name == "" || name == d.tenant.name {
		return &d.tenant
	}
	for _, c := range d.others {
		if c.name == name {
			return c
		}
	}
	return nil
}

// changesAt notes an instant after now at which time alone changes the
// verdict.
func (d *decider) changesAt(t time.Time) {
	if d.change.IsZero() || t.Before(d.change) {
		d.change = t
	}
}

// midnight returns the next instant at which the tenant's day is another, and
// that day.
func (d *decider) midnight() (time.Time, Day) {
	if d.tomorrow == "" {
		unix, day := d.tenant.nextDay()
		d.turnover, d.tomorrow = time.Unix(unix, 0), day
		d.addedTomorrow = d.facts.Counters.Days[day]
	}
	return d.turnover, d.tomorrow
}

func (d *decider) isTomorrow(day Day) bool {
	_, tomorrow := d.midnight()
	return day == tomorrow
}

func (d *decider) changesAtMidnight() {
	at, _ := d.midnight()
	d.changesAt(at)
}
