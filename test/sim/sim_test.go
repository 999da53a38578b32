package sim_test

import (
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/test/sim"
)

// TestEverySchedule plays SIM_SEEDS seeds (600 unless told).
func TestEverySchedule(t *testing.T) {
	seeds := uint64(600)
	if s := os.Getenv("SIM_SEEDS"); s != "" {
		var err error
		if seeds, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("SIM_SEEDS is %q; it has to be a number of seeds", s)
		}
	}
	total := sim.Many(0, seeds, runtime.GOMAXPROCS(0), 5)
	t.Log(total)
	for _, f := range total.Faults {
		t.Errorf("%v (make sim SEED=%d shows how)", f, f.Seed)
	}
}

// TestTheSameSeedIsTheSameSchedule holds for every profile: whatever is found
// can be played again.
func TestTheSameSeedIsTheSameSchedule(t *testing.T) {
	for seed := range uint64(6) {
		if diff := cmp.Diff(trace(seed), trace(seed)); diff != "" {
			t.Errorf("seed %d, second run (-first +second):\n%s", seed, diff)
		}
	}
}

// TestSchedulesAreHarsh is about the simulation itself: the ways to end that
// it is there to try have to come up.
func TestSchedulesAreHarsh(t *testing.T) {
	total := sim.Many(0, 1500, runtime.GOMAXPROCS(0), 5)
	if total.Timed == 0 {
		t.Errorf("in %d runs the keeper published nothing for time alone", total.Runs)
	}
	for _, outcome := range []string{
		"done pushed", "done unchanged", "fail store_down", "hold backoff", "hold blocked", "hold breaker_open",
		"hold contended", "hold throttled", "hold unsettled", "park blocked", "park overflow", "park transient",
	} {
		if total.Outcomes[outcome] == 0 {
			t.Errorf("in %d runs no event ended as %q", total.Runs, outcome)
		}
	}
}

func trace(seed uint64) []string {
	var lines []string
	sim.Run(seed, func(line string) { lines = append(lines, line) })
	return lines
}
