package spot_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/rollcall-dev/rollcall/internal/backstop/spot"
	"github.com/rollcall-dev/rollcall/internal/push"
)

const z95 = 1.959964

// The published values of Newcombe (Statistics in Medicine 17, 1998), table I,
// method 3.
func TestWilsonAgainstPublishedValues(t *testing.T) {
	for _, test := range []struct {
		hits, n   int64
		low, high float64
	}{
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
		{29, 29, 0.8830, 1},
		{0, 0, 0, 1},
	} {
		low, high := spot.Wilson(test.hits, test.n, z95)
		if diff := cmp.Diff([]float64{test.low, test.high}, []float64{low, high}, cmpopts.EquateApprox(0, 0.00005)); diff != "" {
			t.Errorf("%d of %d (-want +got):\n%s", test.hits, test.n, diff)
		}
	}
}

func TestAnIntervalHoldsWhatWasFoundAndNarrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 1_000_000).Draw(t, "n")
		hits := rapid.Int64Range(0, n).Draw(t, "hits")
		e := spot.Tally{Checked: n, Differ: hits}.Estimate()
		if e.Low < 0 || e.Low > e.Rate || e.Rate > e.High || e.High > 1 {
			t.Fatalf("%d of %d: %v not within %v..%v", hits, n, e.Rate, e.Low, e.High)
		}
		more := spot.Tally{Checked: 4 * n, Differ: 4 * hits}.Estimate()
		if more.High-more.Low >= e.High-e.Low {
			t.Fatalf("four times the checks: %v, before %v", more, e)
		}
	})
}

func TestNothingCheckedIsNothingKnown(t *testing.T) {
	got := spot.Tally{Skipped: 7}.Estimate()
	if diff := cmp.Diff(spot.Estimate{Tally: spot.Tally{Skipped: 7}, High: 1}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

var populations = flag.Int("populations", 200, "populations in the test of the interval")

// The interval is honest: over populations of all sizes and rates, sampled by
// Picks, 95 % of the intervals hold the rate that is true of the population.
func TestTheIntervalHoldsTheTrueRate(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2026, 11))
	held, checked := 0, 0
	for p := range *populations {
		size := int(logUniform(rng, 500, 100_000))
		rate, share := logUniform(rng, 0.0005, 0.2), logUniform(rng, 0.01, 0.1)
		differing := 0
		var sample spot.Tally
		for code := range size {
			differs := rng.Float64() < rate
			if differs {
				differing++
			}
			if !spot.Picks(uint64(p), refOf(code), share) {
				continue
			}
			sample.Checked++
			if differs {
				sample.Differ++
			}
		}
		e, truth := sample.Estimate(), float64(differing)/float64(size)
		if e.Low <= truth && truth <= e.High {
			held++
		}
		checked += int(sample.Checked)
	}
	coverage := float64(held) / float64(*populations)
	t.Logf("%d of %d intervals hold the true rate (%.1f %%), from %d checks in all", held, *populations, 100*coverage, checked)
	if coverage < 0.92 || coverage > 0.98 {
		t.Errorf("%.3f of the intervals hold the true rate, want 0.92 to 0.98", coverage)
	}
}

// logUniform draws from low to high, each order of magnitude as often.
func logUniform(rng *rand.Rand, low, high float64) float64 {
	return low * math.Pow(high/low, rng.Float64())
}

func refOf(i int) push.Ref {
	return push.Ref{Tenant: fmt.Sprintf("tenant-%d", i%7), Code: fmt.Sprintf("code-%d", i)}
}
