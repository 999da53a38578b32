package roster

import (
	"maps"
	"math"
	"sync/atomic"
	"time"
)

// defaultZone is where tenants are unless they say otherwise.
const defaultZone = "Asia/Shanghai"

// Location returns the time zone of the tenant's days; an *InvalidError when
// there is none of that name.
func (t *Tenant) Location() (*time.Location, error) {
	zone, ok := location(t.zone())
	if !ok {
		return nil, invalid("tenant.time_zone", t.TimeZone, wantZone)
	}
	return zone, nil
}

func (t *Tenant) zone() string {
	if t.TimeZone == "" {
		return defaultZone
	}
	return t.TimeZone
}

// zones remembers zones by name. Reading one from the database costs more
// than a whole decision; remembering it changes no result. Only names that
// the database has are remembered, so it bounds them.
var zones atomic.Pointer[map[string]*time.Location]

// location returns the zone of an IANA name; false when there is none. "Local"
// is refused: it means something else on every machine.
func location(name string) (*time.Location, bool) {
	known := zones.Load()
	if known != nil {
		if loc, ok := (*known)[name]; ok {
			return loc, true
		}
	}
	if name == "" || name == "Local" {
		return nil, false
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, false
	}
	remember(known, name, loc)
	return loc, true
}

// remember adds a zone to those known. When two goroutines add one at once,
// one addition may be lost; the zone is read again then.
func remember(known *map[string]*time.Location, name string, loc *time.Location) {
	next := map[string]*time.Location{name: loc}
	if known != nil {
		maps.Copy(next, *known)
	}
	zones.CompareAndSwap(known, &next)
}

// period is a span of time in which a zone's clocks run evenly. Within it an
// instant t (Unix seconds) shows the wall time t + offset.
type period struct {
	offset int64 // seconds east of UTC
	end    int64 // first second of the next period, or forever
}

const forever = math.MaxInt64

func periodAt(loc *time.Location, unix int64) period {
	t := time.Unix(unix, 0).In(loc)
	_, offset := t.Zone()
	p := period{offset: int64(offset), end: forever}
	if _, end := t.ZoneBounds(); !end.IsZero() {
		p.end = end.Unix()
	}
	return p
}

// wallClock is a zone's clock as it stands at one instant. Wall times are
// seconds since 1970-01-01 00:00 on that clock; days are numbered from there.
type wallClock struct {
	name string
	loc  *time.Location
	period
	wall int64
	day  int64 // of wall

	calendar string // names of the days from day-1 on, once asked for
}

// calendarDays is how many days from yesterday on a wallClock names without
// formatting each anew: yesterday and a week ahead.
const calendarDays = 10

func wallClockAt(name string, loc *time.Location, now time.Time) wallClock {
	c := wallClock{name: name, loc: loc, period: periodAt(loc, now.Unix())}
	c.wall = now.Unix() + c.offset
	c.day, _ = splitWall(c.wall)
	return c
}

// dayName returns the name of the day numbered n.
func (c *wallClock) dayName(n int64) Day {
	if i := n - c.day + 1; i >= 0 && i < calendarDays {
		if c.calendar == "" {
			c.calendar = calendarFrom(c.day - 1)
		}
		if len(c.calendar) == calendarDays*len(dayLayout) {
			return Day(c.calendar[i*int64(len(dayLayout)):][:len(dayLayout)])
		}
	}
	return dayNumbered(n)
}

func calendarFrom(day int64) string {
	names := make([]byte, 0, calendarDays*len(dayLayout))
	for i := range int64(calendarDays) {
		names = time.Unix((day+i)*secondsADay, 0).UTC().AppendFormat(names, dayLayout)
	}
	return string(names)
}

// nextDay returns the first instant at which the clock shows another day, and
// that day. Usually it is the next midnight and tomorrow; clocks that are
// moved over midnight skip a day, or show yesterday again.
func (c *wallClock) nextDay() (unix int64, day Day) {
	p := c.period
	for {
		if midnight := (c.day+1)*secondsADay - p.offset; midnight < p.end {
			return midnight, c.dayName(c.day + 1)
		}
		moved := p.end
		p = periodAt(c.loc, moved)
		if n, _ := splitWall(moved + p.offset); n != c.day {
			return moved, c.dayName(n)
		}
	}
}
