package quota

import (
	"cmp"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// maxEntries is how many events of a pair are remembered. A retry older than
// the last so many events of its pair would be taken for a new one.
const maxEntries = 32

// Contact is what is known of a pair.
type Contact struct {
	// Version grows with every write; 0 is a pair never heard of.
	Version int64
	// Entries are the events heard, by time.
	Entries []Entry
	// Additions are those not yet done, and those done that the counters still
	// remember.
	Additions []Addition
}

// Entry is one event of a pair.
type Entry struct {
	Change Change
	At     time.Time
	State  string
	Code   string // the code with that state
	// Counted is set on the entry that an addition began with.
	Counted bool
}

// Addition is one customer that a staff member got through a code.
type Addition struct {
	ID   string
	Code string
	Day  roster.Day // of the event, in the tenant's time zone
	At   time.Time  // of the event
	// Since is when it was first taken up.
	Since time.Time
	// Done is when everything that follows from it was durable; zero: not yet.
	Done time.Time
}

// Judgement says what an event was.
type Judgement string

// The judgements.
const (
	Counted  Judgement = "counted"  // an addition
	Merged   Judgement = "merged"   // the other half of one that is counted
	Repeated Judgement = "repeated" // heard before
	Ended    Judgement = "ended"    // the end of a contact
	NoCode   Judgement = "no_code"  // through none of the tenant's codes
)

// Take takes an event in and returns the contact as it is then, and what the
// event was. now is when the additions that begin with it were taken up, and
// zone tells their day.
//
// What is counted depends on the set of events alone, not on the order in which
// they come or how often: the ends of the contact divide time, and between two
// ends there are as many additions as there are full or half ones, whichever
// are more.
func (c Contact) Take(pair Pair, e Entry, now time.Time, zone *time.Location) (Contact, Judgement) {
	at, found := slices.BinarySearchFunc(c.Entries, e, compareEntries)
	if found {
		return c, Repeated
	}
	next := c
	next.Entries = slices.Insert(slices.Clone(c.Entries), at, e)
	next.Additions = slices.Clone(c.Additions)
	counted := next.count(pair, at, now, zone)
	if over := len(next.Entries) - maxEntries; over > 0 {
		next.Entries = slices.Delete(next.Entries, 0, over)
	}
	switch {
	case !e.Change.adds():
		return next, Ended
	case counted:
		return next, Counted
	}
	return next, Merged
}

func compareEntries(a, b Entry) int {
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Change, b.Change), cmp.Compare(a.State, b.State))
}

// count begins the additions that the entries hold and that are not counted,
// now that the entry at has come in.
func (c *Contact) count(pair Pair, at int, now time.Time, zone *time.Location) (counted bool) {
	came := &c.Entries[at]
	for _, span := range c.spans() {
		for range missing(span) {
			entry := came
			if came.Counted || !came.Change.adds() {
				entry = firstUncounted(span)
			}
			entry.Counted = true
			c.Additions = append(c.Additions, Addition{
				ID: pair.id(*entry), Code: entry.Code, Day: roster.DayOf(entry.At, zone), At: entry.At, Since: now,
			})
			counted = true
		}
	}
	return counted
}

// spans are the runs of entries between two ends.
func (c *Contact) spans() [][]Entry {
	var spans [][]Entry
	begin := 0
	for i := range c.Entries {
		if !c.Entries[i].Change.adds() {
			spans = append(spans, c.Entries[begin:i])
			begin = i + 1
		}
	}
	return append(spans, c.Entries[begin:])
}

// missing is how many additions of a span are not counted.
func missing(span []Entry) int {
	var full, half, counted int
	for _, e := range span {
		if e.Counted {
			counted++
		}
		switch e.Change {
		case Added:
			full++
		case HalfAdded:
			half++
		case Deleted, Unfollowed:
		}
	}
	return max(full, half) - counted
}

func firstUncounted(span []Entry) *Entry {
	for i := range span {
		if !span[i].Counted {
			return &span[i]
		}
	}
	return nil // missing has found one
}

// open are the additions that are not done.
func (c Contact) open() []Addition {
	var open []Addition
	for _, a := range c.Additions {
		if a.Done.IsZero() {
			open = append(open, a)
		}
	}
	return open
}

// finish notes that an addition is done.
func (c Contact) finish(id string, at time.Time) Contact {
	c.Additions = slices.Clone(c.Additions)
	for i := range c.Additions {
		if c.Additions[i].ID == id && c.Additions[i].Done.IsZero() {
			c.Additions[i].Done = at
		}
	}
	return c
}

// forget drops the additions that were done before an instant.
func (c Contact) forget(before time.Time) Contact {
	c.Additions = slices.DeleteFunc(slices.Clone(c.Additions), func(a Addition) bool { return a.doneBefore(before) })
	return c
}
