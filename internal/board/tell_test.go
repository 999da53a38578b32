package board_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rollcall-dev/rollcall/internal/board"
)

// wall is a Place that remembers.
type wall struct {
	mu      sync.Mutex
	puts    []time.Time
	calls   int
	removed int
	put     func(ctx context.Context) error
}

func (w *wall) Put(ctx context.Context, report board.Report, calls []board.TenantMinute) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.put != nil {
		if err := w.put(ctx); err != nil {
			return err
		}
	}
	w.puts = append(w.puts, report.At)
	w.calls += len(calls)
	return nil
}

func (w *wall) Remove(context.Context, board.Report) error { w.removed++; return nil }

// tell runs a Teller for a time, and returns what it lost.
func tell(t *testing.T, w *wall, calls *board.Calls, during time.Duration) map[board.Loss]int {
	t.Helper()
	lost := map[board.Loss]int{}
	teller := board.NewTeller(board.TellerOptions{
		Place: w, Report: func(now time.Time) board.Report { return board.Report{Instance: "r-1", At: now} },
		Calls: calls, PerTell: 2, Timeout: time.Second,
		Lost: func(_ context.Context, what board.Loss, n int) { lost[what] += n },
		Now:  time.Now, Logger: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithTimeout(t.Context(), during)
	defer cancel()
	teller.Run(ctx)
	return lost
}

func TestAProcessTellsAtOnceThenRegularlyAndSaysGoodbye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, begun := &wall{}, time.Now()
		lost := tell(t, w, nil, 11*time.Second)
		if len(w.puts) != 4 || !w.puts[0].Equal(begun) || w.puts[2].Sub(begun) != 10*time.Second || w.removed != 1 || len(lost) != 0 {
			t.Errorf("told %v, removed %d times, lost %v", w.puts, w.removed, lost)
		}
	})
}

func TestCallsAreToldFewAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, calls := &wall{}, board.NewCalls(3)
		for _, tenant := range []string{"a", "b", "c", "d", "d"} {
			calls.Granted(time.Now(), tenant)
		}
		lost := tell(t, w, calls, time.Second)
		if w.calls != 3 || lost[board.LostCalls] != 2 {
			t.Errorf("%d told, lost %v; want 2 and 1 more in the end, and both of d lost", w.calls, lost)
		}
	})
}

func TestAPlaceThatHangsIsWaitedForNoLongerThanItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, calls := &wall{put: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}, board.NewCalls(9)
		calls.Granted(time.Now(), "a")
		calls.Refused(time.Now(), "a")
		begun := time.Now()
		lost := tell(t, w, calls, 11*time.Second)
		if lost[board.LostReport] != 4 || lost[board.LostCalls] != 2 || time.Since(begun) > 13*time.Second {
			t.Errorf("lost %v in %v", lost, time.Since(begun))
		}
	})
}

func TestAPlaceThatComesBackIsToldAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("away")
		w := &wall{}
		w.put = func(context.Context) error { err := away; away = nil; return err }
		if lost := tell(t, w, nil, 6*time.Second); len(w.puts) != 2 || lost[board.LostReport] != 1 {
			t.Errorf("told %v, lost %v", w.puts, lost)
		}
	})
}
