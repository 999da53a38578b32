package board_test

import (
	"slices"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/board"
)

func freshness(ages ...time.Duration) board.Freshness {
	var f board.Freshness
	for _, age := range ages {
		f.Note(age)
	}
	return f
}

func TestTheObjectivesTimeIsAnEdge(t *testing.T) {
	if !slices.Contains(board.Edges, board.Within) || !slices.IsSorted(board.Edges) {
		t.Error("late pushes could not be told from the others")
	}
}

func TestFreshness(t *testing.T) {
	tests := []struct {
		name                string
		ages                []time.Duration
		late                int
		median, ninetyninth time.Duration
	}{
		{"no push", nil, 0, 0, 0},
		{"within a bucket by its share", []time.Duration{1500 * time.Millisecond, 1600 * time.Millisecond}, 0, 1500 * time.Millisecond, 1990 * time.Millisecond},
		{"on the edge is in time", []time.Duration{5 * time.Second}, 0, 3500 * time.Millisecond, 4970 * time.Millisecond},
		{"beyond it is late", []time.Duration{5*time.Second + 1}, 1, 7500 * time.Millisecond, 9950 * time.Millisecond},
		{"older than the last edge", []time.Duration{3 * time.Hour}, 1, time.Hour, time.Hour},
		{"a clock that runs behind", []time.Duration{-time.Second}, 0, 25 * time.Millisecond, 49500 * time.Microsecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := freshness(tt.ages...)
			if f.Count() != len(tt.ages) || f.Late() != tt.late || f.Quantile(0.5) != tt.median || f.Quantile(0.99) != tt.ninetyninth {
				t.Errorf("%d pushes, %d late, p50 %v, p99 %v; want %d, %d, %v, %v",
					f.Count(), f.Late(), f.Quantile(0.5), f.Quantile(0.99), len(tt.ages), tt.late, tt.median, tt.ninetyninth)
			}
		})
	}
}

func TestFreshnessIsAddedUp(t *testing.T) {
	var all board.Freshness
	all.Add(nil)
	if all.Count() != 0 {
		t.Error("nothing was added")
	}
	all.Add(freshness(time.Second, time.Minute))
	all.Add(freshness(time.Second))
	all.Add(board.Freshness{7}) // of a version with other edges
	if all.Count() != 3 || all.Late() != 1 {
		t.Errorf("%v", all)
	}
}
