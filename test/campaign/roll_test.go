package campaign

import (
	"testing"
	"time"
)

// TestFreshnessIsToldByRoll has lists reach WeCom before, within and between
// rolls.
func TestFreshnessIsToldByRoll(t *testing.T) {
	tally := newTally()
	tally.freshCalm(time.Minute)
	tally.opened() // the first lists are no measure
	tally.freshCalm(time.Second)
	tally.rollBegins()
	tally.freshCalm(2 * time.Second)
	tally.freshCalm(2 * time.Second)
	first := tally.rollEnds()
	tally.freshCalm(time.Second)
	tally.rollBegins()
	tally.freshCalm(4 * time.Second)
	second := tally.rollEnds()
	for what, c := range map[string]struct {
		got   Quantiles
		count int64
		p99   time.Duration
	}{
		"outside":         {quantiles(tally.still), 2, time.Second},
		"the first roll":  {first, 2, 2 * time.Second},
		"the second roll": {second, 1, 4 * time.Second},
		"all":             {quantiles(tally.calm), 5, 4 * time.Second},
	} {
		// The histogram keeps three digits.
		if got := time.Duration(c.got.P99 * float64(time.Millisecond)); c.got.Count != c.count || got.Round(10*time.Millisecond) != c.p99 {
			t.Errorf("%s: %d lists, p99 %v; want %d, %v", what, c.got.Count, got, c.count, c.p99)
		}
	}
}
