package aimd_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/rollcall-dev/rollcall/internal/adapter/redisbudget/aimd"
)

func TestConcurrency(t *testing.T) {
	tests := map[string]struct {
		ceiling int
		do      func(c *aimd.Concurrency)
		want    int
	}{
		"starts at the ceiling":             {8, func(*aimd.Concurrency) {}, 8},
		"a ceiling below one is one":        {-3, func(*aimd.Concurrency) {}, 1},
		"halves on a refusal":               {8, func(c *aimd.Concurrency) { c.Refused(8) }, 4},
		"never below one":                   {2, func(c *aimd.Concurrency) { c.Refused(2); c.Refused(1); c.Refused(1) }, 1},
		"an echo of a refusal is one":       {8, func(c *aimd.Concurrency) { c.Refused(8); c.Refused(8); c.Refused(8) }, 4},
		"too few successes do not raise it": {8, func(c *aimd.Concurrency) { c.Refused(8); succeed(c, 3) }, 4},
		"a limit's worth of them does":      {8, func(c *aimd.Concurrency) { c.Refused(8); succeed(c, 4) }, 5},
		"a refusal starts the count again":  {8, func(c *aimd.Concurrency) { c.Refused(8); succeed(c, 3); c.Refused(4); succeed(c, 1) }, 2},
		"back at the ceiling it stays":      {3, func(c *aimd.Concurrency) { c.Refused(3); succeed(c, 100) }, 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := aimd.New(test.ceiling)
			test.do(&c)
			if got := c.Limit(); got != test.want {
				t.Errorf("limit %d, want %d", got, test.want)
			}
		})
	}
}

func TestZeroValueAllowsOne(t *testing.T) {
	var c aimd.Concurrency
	c.Succeeded()
	c.Refused(1)
	if got := c.Limit(); got != 1 {
		t.Errorf("limit %d, want 1", got)
	}
}

// A vendor with a fixed threshold is found from any ceiling, and used: the
// limit swings between half of the threshold and one above it.
func TestFindsTheVendorsThreshold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		threshold := rapid.IntRange(1, 40).Draw(t, "threshold")
		c := aimd.New(rapid.IntRange(threshold, 100).Draw(t, "ceiling"))
		for range 200 {
			if c.Limit() > threshold {
				c.Refused(c.Limit())
			} else {
				succeed(&c, c.Limit())
			}
		}
		if got := c.Limit(); got < (threshold+1)/2 || got > threshold+1 {
			t.Fatalf("limit %d for a threshold of %d", got, threshold)
		}
	})
}

func succeed(c *aimd.Concurrency, n int) {
	for range n {
		c.Succeeded()
	}
}
