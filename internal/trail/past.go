package trail

import (
	"slices"
	"time"
)

// Past is what a code's list was at an instant, as far as its trail tells.
type Past struct {
	At time.Time
	// Members is the list, sorted; nil when it is not Known.
	Members []string
	Known   bool
	// Gap says why it is not known.
	Gap string
	// Since is the push that brought the list, Next the one that replaced it;
	// zero: the trail begins later; the list still stands.
	Since, Next Entry
	// Waiting is the last wait that had begun by that instant; zero: nothing known.
	// Once its Until is over it may have ended with nothing to push.
	Waiting Entry
	// Full are the additions that reached or passed a ceiling while the list stood.
	Full []Entry
	// Refused are the pushes that did not replace it, or of which nobody knows.
	Refused []Entry
}

// At goes back from the list of now, by a code's entries in the order of their
// time, to what it was at an instant. Entries may be missing: then a list does not
// fit what a push says it left behind, and what was before is not known. A swap
// that is missing does not show when the pushes beside it moved neither of the two.
func At(now []string, entries []Entry, at time.Time) Past {
	p := Past{At: at}
	list := slices.Clone(now)
	first := 0 // the first entry after the instant
	for first < len(entries) && !entries[first].At.After(at) {
		first++
	}
	for i := len(entries) - 1; i >= first; i-- {
		e := entries[i]
		if e.Kind != Pushed {
			continue
		}
		if !e.left(list) {
			p.Gap = "an entry is missing after " + e.At.UTC().Format(time.RFC3339)
		}
		list = undo(list, e.Moves)
		p.Next = e
	}
	p.look(entries, first)
	switch {
	case p.Gap != "":
	case p.Since.At.IsZero():
		p.Gap = "the trail begins later"
	case !p.Since.left(list):
		p.Gap = "an entry is missing after " + p.Since.At.UTC().Format(time.RFC3339)
	default:
		p.Known = true
		p.Members = slices.Sorted(slices.Values(list))
	}
	return p
}

// look finds the push before the instant, what waited at it, and what happened
// while the list stood.
func (p *Past) look(entries []Entry, first int) {
	for i := first - 1; i >= 0 && p.Since.At.IsZero(); i-- {
		switch e := entries[i]; {
		case e.Kind == Pushed:
			p.Since = e
		case e.Kind == Waits && p.Waiting.At.IsZero():
			p.Waiting = e
		}
	}
	for _, e := range entries {
		stood := e.At.After(p.Since.At) && (p.Next.At.IsZero() || e.At.Before(p.Next.At))
		switch {
		case e.Kind == Full && stood:
			p.Full = append(p.Full, e)
		case e.Kind == Refused && stood:
			p.Refused = append(p.Refused, e)
		}
	}
}

// left reports whether a list may be what a push left behind: as long, with those
// who came and without those who left. Of a swap that is missing the size does
// not tell.
func (e Entry) left(list []string) bool {
	return len(list) == e.Size && !slices.ContainsFunc(e.Moves, func(m Move) bool {
		return m.Came != slices.Contains(list, m.Staff)
	})
}

// undo takes a push back.
func undo(list []string, moves []Move) []string {
	for _, m := range moves {
		if m.Came {
			list = slices.DeleteFunc(list, func(s string) bool { return s == m.Staff })
		} else {
			list = append(list, m.Staff)
		}
	}
	return list
}
