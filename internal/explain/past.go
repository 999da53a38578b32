package explain

import (
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/trail"
)

// Past says of one staff member why he was, or was not, on a list of the past.
type Past struct {
	trail.Past
	Staff  string
	Listed bool
	// Came and Left are the pushes that brought him before the instant and that
	// took him off after it; zero: the trail does not tell, or it did not happen.
	Came, Left trail.Entry
	// Why is the reason with which he came, or with which he had left before.
	Why reason.Reason
	// WhyLeft is the reason with which he left after the instant.
	WhyLeft reason.Reason
	// Full are his additions that reached or passed a ceiling between Since and
	// Next.
	Full []trail.Entry
}

// OfPast looks at one staff member at an instant.
func OfPast(now []string, entries []trail.Entry, staff string, at time.Time) Past {
	p := Past{Past: trail.At(now, entries, at), Staff: staff}
	p.Listed = p.Known && slices.Contains(p.Members, staff)
	came := false
	for _, e := range entries {
		for _, m := range e.Moves {
			switch {
			case m.Staff != staff:
			case !e.At.After(at):
				p.Came, p.Why, came = e, m.Why, m.Came // the last move before
			case !m.Came && p.Left.At.IsZero():
				p.Left, p.WhyLeft = e, m.Why
			}
		}
	}
	if p.Known && came != p.Listed { // the entry of his last move is missing
		p.Came, p.Why = trail.Entry{}, ""
	}
	if !p.Listed {
		p.Left, p.WhyLeft = trail.Entry{}, ""
	}
	for _, e := range p.Past.Full {
		if e.Staff == staff {
			p.Full = append(p.Full, e)
		}
	}
	return p
}
