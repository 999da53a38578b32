package board_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func TestWhatIsOlderThanTheSpanIsNotCounted(t *testing.T) {
	tally := board.NewTally()
	for i := range 90 { // one call a minute, the last one now
		tally.Called(noon.Add(time.Duration(i-89)*time.Minute), "")
	}
	for span, want := range map[time.Duration]int{time.Minute: 1, 5 * time.Minute: 5, time.Hour: 60} {
		if got := tally.Over(noon, span).Calls; got != want {
			t.Errorf("over %v: %d calls, want %d", span, got, want)
		}
	}
	if got := tally.Over(noon.Add(4*time.Minute+59*time.Second), 5*time.Minute).Calls; got != 1 {
		t.Errorf("five minutes later: %d calls, want the last one", got)
	}
	if got := tally.Over(noon.Add(2*time.Hour), time.Hour).Calls; got != 0 {
		t.Errorf("after two quiet hours: %d calls", got)
	}
}

func TestAClockThatGoesBackBreaksNothing(t *testing.T) {
	tally := board.NewTally()
	tally.Called(noon, "")
	tally.Called(noon.Add(-time.Hour), "") // the same place as noon
	if got := tally.Over(noon, time.Hour).Calls; got != 1 {
		t.Errorf("%d calls, want that of noon", got)
	}
}

func TestPushesByWhatThePromiseSaysOfThem(t *testing.T) {
	tally := board.NewTally()
	tally.Fresh(noon, board.Fresh{Age: time.Second})
	tally.Fresh(noon, board.Fresh{Age: time.Second, Slow: true})
	tally.Fresh(noon, board.Fresh{Age: time.Minute, Slow: true, Throttled: true})
	got := tally.Over(noon, time.Minute)
	if got.Promised.Count() != 1 || got.Slow.Count() != 1 || got.Throttled.Count() != 1 || got.Throttled.Late() != 1 {
		t.Errorf("%+v", got)
	}
}

func TestCallsAndRefusals(t *testing.T) {
	tally := board.NewTally()
	tally.Called(noon, "")
	tally.Called(noon, reason.Transient)
	tally.Refused(noon.Add(-time.Minute), reason.Throttled)
	tally.Refused(noon, reason.Throttled)
	got := tally.Over(noon, 5*time.Minute)
	want := board.Activity{
		Calls: 2, Errors: map[reason.Reason]int{reason.Transient: 1}, Refusals: map[reason.Reason]int{reason.Throttled: 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatEndedIsAccountedForOrNot(t *testing.T) {
	tests := []struct {
		outcome   push.Outcome
		accounted int
		panics    int
	}{
		{push.Done{Reason: reason.Pushed}, 1, 0},
		{push.Done{Reason: reason.Unchanged}, 1, 0},
		{push.Hold{Cause: reason.Throttled}, 1, 0},
		{push.Hold{Cause: reason.Contended}, 0, 0},
		{push.Park{Mark: push.Mark{Reason: reason.Credentials}}, 1, 0},
		{push.Park{Mark: push.Mark{Reason: reason.UnknownError}}, 0, 0},
		{push.Fail{Class: reason.Throttled, Err: errors.New("a failure is never accounted for")}, 0, 0},
		{push.Fail{Class: reason.Panicked}, 0, 1},
	}
	for _, tt := range tests {
		tally := board.NewTally()
		tally.Ended(noon, tt.outcome)
		if got := tally.Over(noon, time.Minute); got.Accounted != tt.accounted || got.Panics != tt.panics {
			t.Errorf("%+v: accounted %d, panics %d", tt.outcome, got.Accounted, got.Panics)
		}
	}
}

func TestBusyIsTheLeastOfAllLooks(t *testing.T) {
	tally := board.NewTally()
	for i := range 10 {
		at := noon.Add(time.Duration(i) * time.Minute)
		tally.Busy(at, 7)
		tally.Busy(at.Add(30*time.Second), 4)
		want := 0 // nobody looked in one of the minutes
		if i >= 4 {
			want = 4
		}
		if got := tally.Over(at.Add(30*time.Second), 5*time.Minute).Busy; got != want {
			t.Errorf("minute %d: %d, want %d", i, got, want)
		}
	}
	later := noon.Add(10 * time.Minute)
	tally.Busy(later, 0)
	if got := tally.Over(later, 5*time.Minute).Busy; got != 0 {
		t.Errorf("it was idle just now: %d", got)
	}
}
