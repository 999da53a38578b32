package telemetry

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestNothingRegisteredIsHealthy(t *testing.T) {
	h := NewHealth()
	if !h.Live().OK || !h.Ready().OK {
		t.Errorf("live %+v, ready %+v", h.Live(), h.Ready())
	}
}

// A loop lives as long as it beats.
func TestLiveness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHealth()
		receive := h.Heartbeat("receive", 10*time.Second)
		sweep := h.Heartbeat("sweep", time.Minute)

		pass(10 * time.Second)
		wantReport(t, h.Live(), Report{OK: true, Checks: []CheckReport{
			{Name: "receive", OK: true, AgeSeconds: 10, LimitSeconds: 10},
			{Name: "sweep", OK: true, AgeSeconds: 10, LimitSeconds: 60},
		}})

		pass(time.Millisecond)
		wantReport(t, h.Live(), Report{Checks: []CheckReport{
			{Name: "receive", AgeSeconds: 10.001, LimitSeconds: 10, Error: "no progress"},
			{Name: "sweep", OK: true, AgeSeconds: 10.001, LimitSeconds: 60},
		}})

		receive.Beat() // it was only slow
		wantReport(t, h.Live(), Report{OK: true, Checks: []CheckReport{
			{Name: "receive", OK: true, LimitSeconds: 10},
			{Name: "sweep", OK: true, AgeSeconds: 10.001, LimitSeconds: 60},
		}})

		receive.End() // on purpose: nothing is expected any more
		sweep.Beat()
		pass(time.Minute)
		wantReport(t, h.Live(), Report{OK: true, Checks: []CheckReport{{Name: "sweep", OK: true, AgeSeconds: 60, LimitSeconds: 60}}})
	})
}

// Readiness is what the dependencies answered, and when.
func TestReadiness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		h := NewHealth()
		h.Depend(Dependency{Name: "mongodb", Ask: func(context.Context) error {
			if down.Load() {
				return errors.New("dial mongodb://user:hunter2@db: refused")
			}
			return nil
		}})
		wantReport(t, h.Ready(), Report{Checks: []CheckReport{{Name: "mongodb", LimitSeconds: 12, Error: "not asked yet"}}})

		running(t, h)
		wantReport(t, h.Ready(), Report{OK: true, Checks: []CheckReport{{Name: "mongodb", OK: true, LimitSeconds: 12}}})

		down.Store(true)
		pass(3 * time.Second) // not asked again yet
		wantReport(t, h.Ready(), Report{OK: true, Checks: []CheckReport{{Name: "mongodb", OK: true, AgeSeconds: 3, LimitSeconds: 12}}})
		pass(2 * time.Second)
		wantReport(t, h.Ready(), Report{Checks: []CheckReport{{Name: "mongodb", LimitSeconds: 12, Error: "dial mongodb://[redacted]@db: refused"}}})

		down.Store(false)
		pass(5 * time.Second)
		if !h.Ready().OK {
			t.Errorf("still not ready: %+v", h.Ready())
		}
		if !h.Live().OK {
			t.Error("a dependency has nothing to do with liveness")
		}
	})
}

// One that hangs is told apart from one that refuses, and from one whose check
// ignores its time-out; and it does not silence the others.
func TestADependencyThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stubborn := make(chan struct{})
		h := NewHealth()
		h.Depend(
			Dependency{Name: "slow", Ask: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
			Dependency{Name: "well", Ask: func(context.Context) error { return nil }, Every: time.Second, Timeout: time.Second},
			Dependency{Name: "deaf", Ask: func(context.Context) error { <-stubborn; return nil }},
		)
		running(t, h)
		t.Cleanup(func() { close(stubborn) })

		pass(2500 * time.Millisecond)
		wantReport(t, h.Ready(), Report{Checks: []CheckReport{
			{Name: "slow", AgeSeconds: 0.5, LimitSeconds: 12, Error: "no answer within 2s"},
			{Name: "well", OK: true, AgeSeconds: 0.5, LimitSeconds: 3},
			{Name: "deaf", LimitSeconds: 12, Error: "not asked yet"},
		}})
		if diff := cmp.Diff(map[string]bool{"slow": false, "well": true, "deaf": false}, h.Dependencies()); diff != "" {
			t.Errorf("dependencies: %s", diff)
		}
	})
}

// What is only told of is in the report and leaves the process ready.
func TestADependencyThatIsOnlyToldOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHealth()
		h.Depend(
			Dependency{Name: "store", Ask: func(context.Context) error { return nil }},
			Dependency{Name: "broker", Told: true, Ask: func(context.Context) error { return errors.New("away") }},
		)
		running(t, h)
		synctest.Wait()
		wantReport(t, h.Ready(), Report{OK: true, Checks: []CheckReport{
			{Name: "store", OK: true, LimitSeconds: 12},
			{Name: "broker", LimitSeconds: 12, Told: true, Error: "away"},
		}})
		if diff := cmp.Diff(map[string]bool{"store": true, "broker": false}, h.Dependencies()); diff != "" {
			t.Errorf("dependencies: %s", diff)
		}
	})
}

func TestAnAnswerGrowsOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan error, 1)
		answers <- nil // the first question; the second one is never answered
		h := NewHealth()
		h.Depend(Dependency{Name: "deaf", Ask: func(context.Context) error { return <-answers }})
		running(t, h)
		t.Cleanup(func() { close(answers) })

		pass(12 * time.Second)
		if !h.Ready().OK {
			t.Errorf("within the limit: %+v", h.Ready())
		}
		pass(time.Millisecond)
		wantReport(t, h.Ready(), Report{Checks: []CheckReport{{Name: "deaf", AgeSeconds: 12.001, LimitSeconds: 12, Error: "the last answer is too old"}}})
	})
}

func TestStoppingIsNotReady(t *testing.T) {
	h := NewHealth()
	h.Heartbeat("receive", time.Minute)
	h.Stopping()
	if h.Ready().OK || !h.Live().OK {
		t.Errorf("ready %+v, live %+v; want unready and live", h.Ready(), h.Live())
	}
}

// What fails because we stop is not reported, and Run waits for the question
// on its way.
func TestRunEndsWithItsQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		h := NewHealth()
		h.Depend(Dependency{Name: "db", Timeout: time.Minute, Ask: func(ctx context.Context) error {
			<-ctx.Done()
			<-time.After(time.Second) // a driver that takes its time to let go
			ended = true
			return ctx.Err()
		}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { h.Run(ctx); close(done) }()
		synctest.Wait()
		cancel()
		<-done
		if !ended {
			t.Error("Run returned while a question was on its way")
		}
		if got := h.Ready().Checks[0].Error; got != "not asked yet" {
			t.Errorf("the abandoned question counts as an answer: %q", got)
		}
	})
}

func TestLongErrorsAreShortened(t *testing.T) {
	got := shorten(strings.Repeat("ä", 400))
	if n := len([]rune(got)); n != 301 || !strings.HasSuffix(got, "…") {
		t.Errorf("%d characters: %q", n, got)
	}
	if got := shorten("short"); got != "short" {
		t.Error(got)
	}
}

// running starts Run and lets the first questions be answered; the test's end
// waits for it.
func running(t *testing.T, h *Health) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { h.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	synctest.Wait()
}

// pass lets fake time pass and everything that is due happen.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func wantReport(t *testing.T, got, want Report) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestProcessIsNotReadyWhileItStarts(t *testing.T) {
	h := NewHealth()
	h.Starting()
	if report := h.Ready(); report.OK || report.Checks[0].Error != "starting" {
		t.Errorf("Ready() = %+v while starting; want not ready, and why", report)
	}
	h.Started()
	if report := h.Ready(); !report.OK {
		t.Errorf("Ready() = %+v once started", report)
	}
}
