package roster

import "time"

// Schedule is the working time of a staff member.
type Schedule struct {
	TimeZone string // IANA name; "" is the tenant's
	// Weekly holds the shifts of each weekday, Sunday first.
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

var _ = time.Time{}
