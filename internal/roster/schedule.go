package roster

import "fmt"

// Schedule is the working time of a staff member, by the wall clock of a time
// zone: he is on duty whenever that clock shows a time within a shift. Where
// clocks are put forward, a time that they skip is never shown, so a shift
// that begins within it begins when they have been moved; where they are put
// back, a shift within the repeated time is worked twice.
//
// A shift belongs to the day it begins on. One that reaches past midnight is
// therefore replaced together with the rest of its day by an entry of Special,
// and is not cut short by an entry for the day it reaches into.
type Schedule struct {
	TimeZone string // IANA name; "" is the tenant's
	// Weekly holds the shifts of each weekday, Sunday first. They may overlap.
	Weekly [7][]Shift
	// Special replaces the weekly shifts on single days; an entry without
	// shifts is a day off.
	Special map[Day][]Shift
}

// Shift is a span of working time in minutes since local midnight of the day
// it begins on: 0 <= From < 1440, From < To <= From+1440. A To beyond 1440
// reaches into the next day. The span holds From and not To.
type Shift struct {
	From, To int
}

const (
	secondsAMinute = 60
	minutesADay    = secondsADay / secondsAMinute
)

func (s Shift) valid() bool {
	return s.From >= 0 && s.From < minutesADay && s.To > s.From && s.To <= s.From+minutesADay
}

// check reports the first contradiction in the schedule of staff member id,
// its time zone aside.
func (s *Schedule) check(id string) error {
	for weekday := range s.Weekly {
		if err := checkShifts(s.Weekly[weekday], id, weekday); err != nil {
			return err
		}
	}
	var worst error // of the earliest key: maps have no order, answers do
	var at Day
	for day, shifts := range s.Special {
		err := checkSpecial(day, shifts, id)
		if err != nil && (worst == nil || day < at) {
			worst, at = err, day
		}
	}
	return worst
}

func checkSpecial(day Day, shifts []Shift, id string) error {
	if !day.valid() {
		return invalid(staffField(id, "schedule.special"), string(day), wantDay)
	}
	return checkShifts(shifts, id, day)
}

// checkShifts reports the first shift out of range among those of one day.
func checkShifts[D int | Day](shifts []Shift, id string, day D) error {
	for _, shift := range shifts {
		if !shift.valid() {
			return invalid(fmt.Sprintf("staff[%s].schedule[%v]", id, day), fmt.Sprintf("%d-%d", shift.From, shift.To),
				"0 <= from < 1440 and from < to <= from+1440, in minutes")
		}
	}
	return nil
}

// shifts returns the shifts that begin on the day numbered n.
func (s *Schedule) shifts(c *wallClock, n int64) []Shift {
	if shifts, special := s.special(c, n); special {
		return shifts
	}
	return s.Weekly[weekdayOf(n)]
}

func (s *Schedule) special(c *wallClock, n int64) ([]Shift, bool) {
	if len(s.Special) == 0 {
		return nil, false
	}
	shifts, special := s.Special[c.dayName(n)]
	return shifts, special
}

// reach returns the latest end of the shifts that hold wall; wall itself when
// none does.
func (s *Schedule) reach(c *wallClock, wall int64) int64 {
	day, second := splitWall(wall)
	end := reachOf(s.shifts(c, day), second)
	end = max(end, reachOf(s.shifts(c, day-1), second+secondsADay)-secondsADay)
	if end < 0 {
		return wall
	}
	return day*secondsADay + end
}

// reachOf returns the latest end of the shifts that hold the second of their
// day; a negative number beyond a day when none does.
func reachOf(shifts []Shift, second int64) int64 {
	end := int64(-1)
	for _, shift := range shifts {
		if int64(shift.From)*secondsAMinute <= second && second < int64(shift.To)*secondsAMinute {
			end = max(end, int64(shift.To)*secondsAMinute)
		}
	}
	return end
}

// flip returns the first wall time after wall at which duty is another than
// at wall, as if clocks were never moved; false when that never comes. reach
// is the schedule's reach at wall.
func (s *Schedule) flip(c *wallClock, wall, reach int64) (int64, bool) {
	if reach == wall {
		return s.begins(c, wall)
	}
	return s.ends(c, reach)
}

// quietDays is the length of a run of days without a flip and without a
// special date after which the week is known to hold none: each weekday, the
// one before the first for its night shift, and the part of the day at which
// the run began.
const quietDays = 9

// ends returns the end of the working time that lasts until end at least.
func (s *Schedule) ends(c *wallClock, end int64) (int64, bool) {
	plain, _ := splitWall(end)
	for {
		further := s.reach(c, end)
		if further == end {
			return end, true
		}
		end = further
		day, _ := splitWall(end)
		if _, special := s.special(c, day); special {
			plain = day + 1
		}
		if day-plain < quietDays {
			continue
		}
		next, ok := s.nextSpecial(day)
		if !ok {
			return 0, false
		}
		end, plain = next*secondsADay, next+1
	}
}

// begins returns the first beginning of a shift after wall, which is not
// working time.
func (s *Schedule) begins(c *wallClock, wall int64) (int64, bool) {
	day, _ := splitWall(wall)
	for plain := day; ; day++ {
		first := int64(forever)
		for _, shift := range s.shifts(c, day) {
			if from := day*secondsADay + int64(shift.From)*secondsAMinute; from > wall {
				first = min(first, from)
			}
		}
		if first != forever {
			return first, true
		}
		if _, special := s.special(c, day); special {
			plain = day + 1
		}
		if day-plain < quietDays {
			continue
		}
		next, ok := s.nextSpecial(day)
		if !ok {
			return 0, false
		}
		day, plain = next-1, next
	}
}

// nextSpecial returns the number of the first special day after day.
func (s *Schedule) nextSpecial(day int64) (int64, bool) {
	first := int64(forever)
	for special := range s.Special {
		if n := special.number(); n > day {
			first = min(first, n)
		}
	}
	return first, first != forever
}

// duty is what a schedule says at one instant.
type duty struct {
	on      bool
	changes bool  // whether it ever does
	change  int64 // the first instant, in Unix seconds, at which on is another
}

// duty returns what the schedule says now, by the clock of its zone.
func (s *Schedule) duty(c *wallClock) duty {
	reach := s.reach(c, c.wall)
	now := duty{on: reach > c.wall}
	flip, ok := s.flip(c, c.wall, reach)
	if ok && flip-c.offset < c.end {
		return now.until(flip - c.offset)
	}
	return s.changeAcross(c, now)
}

// changeAcross finds when duty is not as it is now, for when clocks are moved
// before that.
func (s *Schedule) changeAcross(c *wallClock, now duty) duty {
	p, wall := c.period, c.wall
	for {
		flip, ok := s.flip(c, wall, s.reach(c, wall))
		if ok && flip-p.offset < p.end {
			return now.until(flip - p.offset)
		}
		if p.end == forever {
			return now
		}
		moved := p.end
		p = periodAt(c.loc, moved)
		shown := moved + p.offset
		if s.reach(c, shown) > shown != now.on {
			return now.until(moved)
		}
		if !ok && shown >= wall {
			return now // constant from wall on, and clocks never show less again
		}
		wall = shown
		if eve := flip - 2*secondsADay; ok && eve > wall {
			at := eve - p.offset // nothing changes before: skip the years between
			p = periodAt(c.loc, at)
			wall = at + p.offset
		}
	}
}

func (d duty) until(unix int64) duty {
	d.changes, d.change = true, unix
	return d
}
