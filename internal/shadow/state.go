package shadow

import (
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// State is what is kept of a code in shadow mode.
type State struct {
	push.Ref
	Ours   push.Shadow // At is zero while there is no verdict
	Theirs Reported    // At is zero while nobody has reported
	// Changes counts the changes of either list. It names the pair: a pair that
	// comes again after another has another number.
	Changes int64
	// Changed is when either list changed last, by our clocks, while the pair
	// is not compared; zero when it is.
	Changed time.Time
	Verdict Verdict
	Days    map[roster.Day]Tally // those kept, at most DaysKept and one
}

// Verdict is what the last comparison left; the zero value is none.
type Verdict struct {
	Outcome     Outcome
	Differences []Difference
	Since       time.Time // of a mismatch: when the lists began to differ
	First       time.Time // when the code was compared first
}

// Tally is what a day had of a code, or of all codes of a tenant.
type Tally struct {
	Compared   int
	Matched    int
	Mismatched int
	// Standing counts codes whose lists differed on that day by an earlier
	// comparison, known once they agree again.
	Standing int
	Causes   map[Cause]int // of the mismatches, each once a comparison
}

// Clean reports whether no lists differed.
func (t Tally) Clean() bool { return t.Mismatched == 0 && t.Standing == 0 }

// Complete reports whether both sides are known.
func (s State) Complete() bool { return !s.Ours.At.IsZero() && !s.Theirs.At.IsZero() }

// DaysKept is for how many days back a code's counts are kept.
const DaysKept = 31

// Comparison is the end of one look at a code: its verdict, and what it adds to
// the counts.
type Comparison struct {
	Verdict
	// Day is that of the comparison, in the tenant's time zone; "" counts
	// nothing.
	Day      roster.Day
	Standing []roster.Day // days, up to Day, on which the lists still differed
	Pruned   []roster.Day // days to be forgotten
}

// compared is the comparison of a code whose lists have settled.
func (s State) compared(now time.Time, zone *time.Location) Comparison {
	result := Compare(s.Ours, s.Theirs)
	c := Comparison{
		Verdict: Verdict{Outcome: result.Outcome, Differences: result.Differences, First: s.Verdict.First},
		Day:     roster.DayOf(now, zone),
	}
	if c.First.IsZero() {
		c.First = now
	}
	switch {
	case c.Outcome == Mismatch && s.Verdict.Outcome == Mismatch:
		c.Since = s.Verdict.Since
	case c.Outcome == Mismatch:
		c.Since = s.Changed
	case s.Verdict.Outcome == Mismatch:
		c.Standing = daysAfter(s.Verdict.Since, now, zone)
	}
	oldest := dayBack(now, zone, DaysKept)
	for day := range s.Days {
		if day < oldest {
			c.Pruned = append(c.Pruned, day)
		}
	}
	slices.Sort(c.Pruned)
	return c
}

// left is the end of a code that is not to be compared: one side is missing, or
// it is not in shadow mode any more.
func (s State) left() Comparison { return Comparison{Verdict: Verdict{First: s.Verdict.First}} }

// daysAfter returns the days after an instant's, up to now's, of those that are
// kept.
func daysAfter(from, now time.Time, zone *time.Location) []roster.Day {
	first := roster.DayOf(from, zone)
	var days []roster.Day
	for back := DaysKept; back >= 0; back-- {
		if day := dayBack(now, zone, back); day > first {
			days = append(days, day)
		}
	}
	return days
}

// dayBack is the calendar day some days before now's. Noon is far from any
// moving of clocks.
func dayBack(now time.Time, zone *time.Location, back int) roster.Day {
	year, month, day := now.In(zone).Date()
	return roster.DayOf(time.Date(year, month, day-back, 12, 0, 0, 0, zone), zone)
}
