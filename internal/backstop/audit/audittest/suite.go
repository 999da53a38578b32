package audittest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

// TestPasses is the contract of audit.Passes. Every subtest gets an empty store.
func TestPasses(t *testing.T, factory func(t *testing.T) audit.Passes) {
	tests := map[string]func(t *testing.T, p audit.Passes){
		"is empty before the first pass": passNone,
		"keeps a pass":                   passKept,
		"takes one of many changes":      passRace,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, factory(t))
		})
	}
}

func passNone(t *testing.T, p audit.Passes) {
	wantPass(t, p, audit.Pass{})
}

func wholePass() audit.Pass {
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	return audit.Pass{
		Number: 7, Begun: at, Stage: audit.OverRecords, Frontier: "acme/c", Exhausted: true, Serial: 12,
		Chunks: []audit.Chunk{{
			Serial: 12, Stage: audit.OverRecords, From: "acme/a", To: "acme/c", Last: true, Owner: "keeper-1", Until: at.Add(time.Minute),
		}},
		Tally: audit.Tally{"looked": 12, "stale": 1},
		Last:  audit.Summary{Number: 6, Begun: at.Add(-2 * time.Hour), Ended: at.Add(-time.Hour), Tally: audit.Tally{"looked": 5_000_000_000}},
	}
}

func passKept(t *testing.T, p audit.Passes) {
	accepted := suitetest.Accepted(t, "a change of the version seen")
	want := wholePass()
	accepted(p.Swap(t.Context(), want))
	want.Version = 1
	wantPass(t, p, want)
	stale := want
	stale.Version = 0
	suitetest.Refused(t, "a change of an older version")(p.Swap(t.Context(), stale))
	want.Ended, want.Chunks, want.Frontier, want.Tally = want.Begun.Add(time.Hour), nil, "", nil
	accepted(p.Swap(t.Context(), want))
	want.Version = 2
	wantPass(t, p, want)
	want.Number, want.Ended = want.Number+1, time.Time{} // the next one is under way
	accepted(p.Swap(t.Context(), want))
	want.Version = 3
	wantPass(t, p, want)
}

func wantPass(t *testing.T, p audit.Passes, want audit.Pass) {
	t.Helper()
	got, err := p.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("pass (-want +got):\n%s", diff)
	}
}

func passRace(t *testing.T, p audit.Passes) {
	for version := range int64(10) {
		won := suitetest.Race(t, 16, func(i int) (bool, error) {
			return p.Swap(t.Context(), audit.Pass{Version: version, Number: int64(i)})
		})
		if len(won) != 1 {
			t.Errorf("%d of 16 changed version %d", len(won), version)
		}
	}
}
