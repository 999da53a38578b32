package plan

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Company is what is known of a tenant: who sits on which codes, and what keeps
// them off.
type Company struct {
	Tenant     string
	Zone       *time.Location // of its days
	DailyTotal int            // additions of a person a day over all codes; 0: no ceiling
	Day        roster.Day     // the day that AddedToday and Today count
	People     []Person
	Codes      []Code // in the order of their IDs, which is that of a fan-out
}

// Person is a staff member.
type Person struct {
	ID         string
	Barred     bool // resigned, refused by WeCom or unknown: on no list
	Presence   roster.Presence
	Schedule   *roster.Schedule // nil: always on duty
	AddedToday int              // over all codes
	Removed    bool             // carries the mark of having been at the company's ceiling on Day
}

// Code is a live QR code. People are named by their index in Company.People.
type Code struct {
	ID           string
	Rotates      bool // who is met is drawn in turn, not by WeCom at random
	OfflineCheck bool
	Interval     time.Duration // least time between two pushes; 0: the fast lane
	LastPush     time.Time     // zero: never
	Seats        []Seat        // each person once
	Reserves     [][]int32     // who stands in when no member is left: backups, then the tenant's fallback
	// PerDay is how many additions the code had a day, of late. A Fresh code has no
	// past: of what is announced it gets as much as the others have on average.
	PerDay float64
	Fresh  bool
}

// Seat is a member's place on a code. A limit of 0 is none, or switched off.
type Seat struct {
	Person                           int32
	AddLimit, DailyLimit, RoundLimit int
	Added, Today, InRound            int // additions so far
}

// places counts the codes of each person, reserves included: what a fan-out over
// him releases.
func (c *Company) places() [][]int32 {
	sits := make([][]int32, len(c.People))
	for code := range c.Codes {
		at := int32(code)
		add := func(person int32) {
			if n := len(sits[person]); n == 0 || sits[person][n-1] != at {
				sits[person] = append(sits[person], at)
			}
		}
		for _, seat := range c.Codes[code].Seats {
			add(seat.Person)
		}
		for _, reserves := range c.Codes[code].Reserves {
			for _, person := range reserves {
				add(person)
			}
		}
	}
	return sits
}
