package quota

import (
	"cmp"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// maxEntries is how many events of a pair are remembered, and minTrimmed how
// many when some had to be dropped. One that is older than all of so many is
// taken for a repeat.
const (
	maxEntries = 32
	minTrimmed = maxEntries - 1
)

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
// are more. No event makes that number less, so those that one adds to it begin
// with it.
func (c Contact) Take(pair Pair, e Entry, now time.Time, zone *time.Location) (Contact, Judgement) {
	at, found := slices.BinarySearchFunc(c.Entries, e, compareEntries)
	if found || at == 0 && len(c.Entries) >= minTrimmed {
		return c, Repeated
	}
	next := c
	next.Entries = slices.Insert(slices.Clone(c.Entries), at, e)
	next.Additions = slices.Clone(c.Additions)
	more := needed(next.Entries) - needed(c.Entries)
	for range more {
		next.begin(pair, at, now, zone)
	}
	next.Entries = trim(next.Entries)
	switch {
	case !e.Change.adds():
		return next, Ended
	case more > 0:
		return next, Counted
	}
	return next, Merged
}

func compareEntries(a, b Entry) int {
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Change, b.Change), cmp.Compare(a.State, b.State))
}

// begin begins an addition with the entry at, or with one that was merged when
// that one is an end.
func (c *Contact) begin(pair Pair, at int, now time.Time, zone *time.Location) {
	entry := &c.Entries[at]
	if !entry.Change.adds() {
		entry = c.merged()
	}
	if entry == nil { // no longer remembered
		return
	}
	entry.Counted = true
	c.Additions = append(c.Additions, Addition{
		ID: pair.id(*entry), Code: entry.Code, Day: roster.DayOf(entry.At, zone), At: entry.At, Since: now,
	})
}

// merged is the first entry without an addition in a span that has fewer than
// it needs; nil when there is none.
func (c *Contact) merged() *Entry {
	for _, span := range spans(c.Entries) {
		counted := 0
		for _, e := range span {
			if e.Counted {
				counted++
			}
		}
		if i := slices.IndexFunc(span, func(e Entry) bool { return !e.Counted }); i >= 0 && counted < needed(span) {
			return &span[i]
		}
	}
	return nil
}

// trim drops the oldest entries beyond maxEntries: of a span a full one together
// with a half one, so that neither is left over and taken for an addition.
func trim(entries []Entry) []Entry {
	for len(entries) > maxEntries {
		first := entries[0]
		entries = entries[1:]
		if !first.Change.adds() {
			continue
		}
		other := func(e Entry) bool { return e.Change != first.Change }
		if i := slices.IndexFunc(spans(entries)[0], other); i >= 0 {
			entries = slices.Delete(entries, i, i+1)
		}
	}
	return entries
}

// needed is how many additions some entries make.
func needed(entries []Entry) int {
	n := 0
	for _, span := range spans(entries) {
		var full, half int
		for _, e := range span {
			if e.Change == Added {
				full++
			} else {
				half++
			}
		}
		n += max(full, half)
	}
	return n
}

// spans are the runs of entries between two ends.
func spans(entries []Entry) [][]Entry {
	var spans [][]Entry
	begin := 0
	for i, e := range entries {
		if !e.Change.adds() {
			spans = append(spans, entries[begin:i])
			begin = i + 1
		}
	}
	return append(spans, entries[begin:])
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
