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
	Term        int64     // of the code's mode when it was compared
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

// in is the verdict, if it is of a term.
func (v Verdict) in(term int64) Verdict {
	if v.Term != term {
		return Verdict{}
	}
	return v
}

// Decided reports whether Rollcall's side is known.
func (s State) Decided() bool { return !s.Ours.At.IsZero() }

// ReportedIn reports whether the other side is known, from a term of the code's
// mode.
func (s State) ReportedIn(term int64) bool { return !s.Theirs.At.IsZero() && s.Theirs.Term == term }

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
func (s State) compared(now time.Time, mode Mode) Comparison {
	result, zone, before := Compare(s.Ours, s.Theirs), mode.Zone, s.Verdict.in(mode.Term)
	c := Comparison{
		Verdict: Verdict{Outcome: result.Outcome, Differences: result.Differences, First: before.First, Term: mode.Term},
		Day:     roster.DayOf(now, zone),
	}
	if c.First.IsZero() {
		c.First = now
	}
	switch {
	case c.Outcome == Mismatch && before.Outcome == Mismatch:
		c.Since = before.Since
	case c.Outcome == Mismatch:
		c.Since = s.Changed
	case before.Outcome == Mismatch:
		c.Standing = daysAfter(before.Since, now, zone)
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
func (s State) left() Comparison {
	return Comparison{Verdict: Verdict{First: s.Verdict.First, Term: s.Verdict.Term}}
}

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
