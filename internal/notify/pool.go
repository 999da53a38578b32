package notify

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// FirstOpenDay returns the earliest day that is not over everywhere at an
// instant: the last time zone to leave a day is twelve hours behind UTC.
func FirstOpenDay(at time.Time) roster.Day {
	return roster.DayOf(at, time.FixedZone("", -12*60*60))
}
