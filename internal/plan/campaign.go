package plan

import (
	"math"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Campaign is what is to come. Times are counted from Start.
type Campaign struct {
	Start  time.Time
	Length time.Duration // a day, or what is planned of it
	// Additions in the whole Length; less than 0: as many as the codes had of late.
	Additions float64
	Peaks     []Peak
	Changes   []Change
	// ChangesEach is how often a day each person comes or goes by hand, at times of
	// his own. Half of that is going.
	ChangesEach float64
}

// Peak is a part of the additions that comes within a short time; what is left
// comes evenly over the whole Length.
type Peak struct {
	At, Over time.Duration
	Share    float64 // 0 to 1; all peaks together at most 1
}

// Change is a presence that is set by hand.
type Change struct {
	At   time.Duration
	Over time.Duration // one person after the other within this time; 0: all at once
	Who  []string      // none: everybody
	But  []string      // of everybody, not these
	To   roster.Presence
}

func (c *Change) concerns(person string) bool {
	if len(c.Who) > 0 {
		return slices.Contains(c.Who, person)
	}
	return !slices.Contains(c.But, person)
}

// due is the share of the additions that has come at t; it never falls.
func (c *Campaign) due(t time.Duration) float64 {
	share, even := 0.0, 1.0
	for _, p := range c.Peaks {
		share += p.Share * passed(t, p.At, p.Over)
		even -= p.Share
	}
	return share + max(0, even)*passed(t, 0, c.Length)
}

// passed is the part of a span that is over at t, 0 to 1.
func passed(t, at, over time.Duration) float64 {
	switch {
	case t < at:
		return 0
	case t >= at+over:
		return 1
	}
	return float64(t-at) / float64(over)
}

// additions is how many come in the Length.
func (c *Campaign) additions(company *Company) int {
	if c.Additions >= 0 {
		return int(math.Round(c.Additions))
	}
	perDay := 0.0
	for i := range company.Codes {
		perDay += company.Codes[i].PerDay
	}
	return int(math.Round(perDay * c.Length.Hours() / 24))
}
