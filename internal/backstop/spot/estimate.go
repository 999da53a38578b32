package spot

import "math"

// z95 is the standard normal's 97.5th percentile: 95 % lie within it.
const z95 = 1.959964

// Tally counts checks by their end. The zero Tally counts none.
type Tally struct {
	// Checked are the codes with a verdict; Differ is how many of them held
	// something that is not ours.
	Checked, Differ int64
	// Skipped codes were not looked at: no budget was spare, or WeCom gave no
	// answer.
	Skipped int64
	// Unsettled codes had a push under way or to come.
	Unsettled int64
}

// Plus adds two tallies.
func (t Tally) Plus(other Tally) Tally {
	return Tally{
		Checked:   t.Checked + other.Checked,
		Differ:    t.Differ + other.Differ,
		Skipped:   t.Skipped + other.Skipped,
		Unsettled: t.Unsettled + other.Unsettled,
	}
}

// Estimate is the share of codes that differ at WeCom, as far as a sample tells.
type Estimate struct {
	Tally
	// Rate is what was found; Low and High are what it may be, at 95 %. All are
	// shares (0..1). Without a check nothing is known: 0, from 0 to 1.
	Rate, Low, High float64
}

// Estimate returns what a tally says.
func (t Tally) Estimate() Estimate {
	e := Estimate{Tally: t}
	if t.Checked > 0 {
		e.Rate = float64(t.Differ) / float64(t.Checked)
	}
	e.Low, e.High = Wilson(t.Differ, t.Checked, z95)
	return e
}

// Wilson returns the score interval (E. B. Wilson, 1927) of a share of which n
// draws hit hits times, 0 <= hits <= n; z is the quantile of the standard normal.
// Unlike the textbook's p ± z·σ it says something when nothing was hit, and it
// stays within 0 and 1.
func Wilson(hits, n int64, z float64) (low, high float64) {
	if n <= 0 {
		return 0, 1
	}
	draws, p := float64(n), float64(hits)/float64(n)
	shrink := 1 + z*z/draws
	middle := p + z*z/(2*draws)
	spread := z * math.Sqrt(p*(1-p)/draws+z*z/(4*draws*draws))
	low, high = max(0, (middle-spread)/shrink), min(1, (middle+spread)/shrink)
	if hits == 0 {
		low = 0 // and not what is left of rounding
	}
	if hits == n {
		high = 1
	}
	return low, high
}
