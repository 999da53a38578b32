package spot_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rollcall-dev/rollcall/internal/backstop/spot"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// A pass picks its share, and two passes pick independently of each other: as
// many codes are in both as chance puts there. Five standard deviations.
func TestPicksAreAShareAndIndependent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const codes = 5_000
		share := rapid.Float64Range(0.005, 0.6).Draw(t, "share")
		pass := rapid.Uint64().Draw(t, "pass")
		first, both := 0, 0
		for i := range codes {
			if spot.Picks(pass, refOf(i), share) {
				first++
				if spot.Picks(pass+1, refOf(i), share) {
					both++
				}
			}
		}
		within(t, "picked", first, codes, share)
		within(t, "picked again", both, codes, share*share)
	})
}

func within(t *rapid.T, what string, got, n int, p float64) {
	t.Helper()
	expected, deviation := float64(n)*p, math.Sqrt(float64(n)*p*(1-p))
	if off := math.Abs(float64(got) - expected); off > 5*deviation+1 {
		t.Fatalf("%d %s of %d, want %.0f ± %.0f", got, what, n, expected, 5*deviation)
	}
}

// Another build, or another process, has to pick the same.
func TestPicksStayTheSame(t *testing.T) {
	var got []int
	for i := range 300 {
		if spot.Picks(7, refOf(i), 0.02) {
			got = append(got, i)
		}
	}
	if diff := cmp.Diff([]int{34, 169, 183, 259}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPicksAtTheEnds(t *testing.T) {
	for i := range 1000 {
		if spot.Picks(1, refOf(i), 0) || !spot.Picks(1, refOf(i), 1) {
			t.Fatalf("code %d: a share of 0 picks nobody and one of 1 everybody", i)
		}
	}
	a, b := push.Ref{Tenant: "a", Code: "bc"}, push.Ref{Tenant: "ab", Code: "c"}
	same := 0
	for pass := range uint64(1000) {
		if spot.Picks(pass, a, 0.5) == spot.Picks(pass, b, 0.5) {
			same++
		}
	}
	if same > 600 {
		t.Errorf("two codes whose names run into each other are picked together %d times of 1000", same)
	}
}
