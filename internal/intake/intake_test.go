package intake_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEventIsAckedOnceItsCodeIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, baseOptions, observeAndDone)
		b.broker.publish("acme", "c1")
		synctest.Wait()
		if unacked, acked, nacks := b.broker.counts(); unacked != 0 || acked != 1 || nacks != 0 {
			t.Errorf("un-acked %d, acked %d, nacked %d; want 0, 1, 0", unacked, acked, nacks)
		}
		b.halt()
		if !b.broker.flushed {
			t.Error("stopped without flushing the acks")
		}
	})
}

// A refresh knows the newest event that it is for.
func TestARefreshKnowsItsEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var triggers []intake.Trigger
		b := run(t, baseOptions, func(ctx context.Context, _ push.Ref, observe func()) push.Outcome {
			trigger, _ := intake.TriggerOf(ctx)
			triggers = append(triggers, trigger)
			observe()
			spend(time.Second)
			return push.Done{Reason: reason.Pushed}
		})
		began := time.Now()
		first := b.broker.publish("acme", "c1")
		pass(100 * time.Millisecond)
		b.broker.publish("acme", "c1")
		last := b.broker.publish("acme", "c1")
		pass(5 * time.Second)
		b.halt()
		want := []intake.Trigger{
			{Reason: "test", Message: first, PublishedAt: began},
			{Reason: "test", Message: last, PublishedAt: began.Add(100 * time.Millisecond)},
		}
		if diff := cmp.Diff(want, triggers); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEventsOfACodeInWorkMergeIntoOneMoreRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, baseOptions, func(_ context.Context, _ push.Ref, observe func()) push.Outcome {
			observe()
			spend(time.Second)
			return push.Done{Reason: reason.Pushed}
		})
		for range 10 {
			b.broker.publish("acme", "c1")
			synctest.Wait()
		}
		pass(5 * time.Second)
		if diff := cmp.Diff([]time.Duration{0, time.Second}, b.refresher.runs()); diff != "" {
			t.Errorf("runs (-want +got):\n%s", diff)
		}
		if unacked, acked, _ := b.broker.counts(); unacked != 0 || acked != 10 || b.refresher.clash {
			t.Errorf("un-acked %d, acked %d, two workers at once: %v", unacked, acked, b.refresher.clash)
		}
		b.halt()
	})
}

func TestHeldCodeKeepsOneMessageAndComesBackByTheBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := time.Now().Add(10 * time.Second)
		b := run(t, baseOptions, func(_ context.Context, _ push.Ref, observe func()) push.Outcome {
			observe()
			if time.Now().Before(until) {
				return push.Hold{Until: until, Cause: reason.Backoff}
			}
			return push.Done{Reason: reason.Pushed}
		})
		b.broker.publish("acme", "c1")
		synctest.Wait()
		b.broker.publish("acme", "c1")
		b.broker.publish("acme", "c1")
		synctest.Wait()
		if unacked, acked, _ := b.broker.counts(); unacked != 1 || acked != 2 {
			t.Errorf("while held: un-acked %d, acked %d; want 1 and 2", unacked, acked)
		}
		if got := b.intake.Stats().ByCause[reason.Backoff]; got != 1 {
			t.Errorf("held for a backoff: %d; want 1", got)
		}
		pass(11 * time.Second)
		if unacked, acked, nacks := b.broker.counts(); unacked != 0 || acked != 3 || nacks != 1 {
			t.Errorf("after: un-acked %d, acked %d, nacked %d; want 0, 3, 1", unacked, acked, nacks)
		}
		want := []time.Duration{0, 10*time.Second + nackDelay}
		if diff := cmp.Diff(want, b.refresher.runs()); diff != "" {
			t.Errorf("runs (-want +got):\n%s", diff)
		}
		last := b.observer.ended[len(b.observer.ended)-1]
		if last.Freshness != 10*time.Second+nackDelay || last.Waited != reason.Backoff {
			t.Errorf("ended %+v; want the age of the first event and the cause of its wait", last)
		}
		b.halt()
	})
}

func TestNewEventBringsAThrottledCodeForward(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var urgent atomic.Bool
		b := run(t, baseOptions, func(_ context.Context, _ push.Ref, observe func()) push.Outcome {
			observe()
			if !urgent.Load() {
				return push.Hold{Until: time.Now().Add(10 * time.Second), Cause: reason.Throttled}
			}
			return push.Done{Reason: reason.Pushed}
		})
		b.broker.publish("acme", "c1")
		pass(2 * time.Second)
		urgent.Store(true)
		b.broker.publish("acme", "c1")
		pass(2 * time.Second)
		if diff := cmp.Diff([]time.Duration{0, 3 * time.Second}, b.refresher.runs()); diff != "" {
			t.Errorf("runs (-want +got):\n%s", diff)
		}
		if _, _, nacks := b.broker.counts(); nacks != 0 {
			t.Errorf("%d nacks; want none, the newer event has just shown whose code it is", nacks)
		}
		b.halt()
	})
}

func TestSiblingThatJoinsGetsAllThatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, baseOptions, func(_ context.Context, _ push.Ref, observe func()) push.Outcome {
			observe()
			return push.Hold{Until: time.Now().Add(14 * time.Second), Cause: reason.Throttled}
		})
		for i := range 50 {
			b.broker.publish("acme", fmt.Sprint("c", i))
		}
		synctest.Wait()
		if got := b.intake.Stats().Held; got != 50 {
			t.Fatalf("held %d; want 50", got)
		}
		b.broker.joins <- struct{}{}
		synctest.Wait()
		if _, _, nacks := b.broker.counts(); nacks != 50 || b.observer.nacked[reason.HandedBack] != 50 {
			t.Errorf("nacked %d, counted %d; want 50", nacks, b.observer.nacked[reason.HandedBack])
		}
		if got := b.intake.Stats().Held; got != 0 {
			t.Errorf("held %d after the hand-back", got)
		}
		b.halt()
	})
}

// TestStormIsShedBeforeItFillsTheConsumer: a thousand codes arrive while the
// workers are stuck, and another tenant's event gets through all the same.
func TestStormIsShedBeforeItFillsTheConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := baseOptions
		opts.MaxHeld = 400
		stuck := make(chan struct{})
		b := run(t, opts, func(_ context.Context, ref push.Ref, observe func()) push.Outcome {
			observe()
			if ref.Tenant == "storm" {
				<-stuck
			}
			return push.Done{Reason: reason.Pushed}
		})
		for i := range 1000 {
			b.broker.publish("storm", fmt.Sprint("s", i))
		}
		b.broker.publish("calm", "c1")
		synctest.Wait()
		stats := b.intake.Stats()
		unacked, acked, _ := b.broker.counts()
		if here := stats.Ready + stats.InFlight; here >= 400 || unacked != here {
			t.Errorf("%d codes here, %d un-acked; want fewer than 400, and no message elsewhere", here, unacked)
		}
		parked := b.dirty.all()
		if acked != len(parked)+1 || len(parked) < 600 {
			t.Errorf("%d acked, %d parked; want the parked ones and the calm tenant's acked", acked, len(parked))
		}
		for _, mark := range parked {
			if mark.Tenant != "storm" || mark.Reason != reason.Overflow {
				t.Fatalf("parked %+v; want codes of the storm, for overflow", mark)
			}
		}
		close(stuck)
		b.halt()
	})
}

// TestNothingIsTakenInWhenNothingCanBeParked: a full consumer whose dirty set
// does not answer leaves the rest with the broker, and stops when it is told.
func TestNothingIsTakenInWhenNothingCanBeParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := baseOptions
		opts.MaxHeld = 400
		b := run(t, opts, func(_ context.Context, _ push.Ref, observe func()) push.Outcome {
			observe()
			return push.Fail{Class: reason.StoreDown, Err: errors.New("no answer")}
		})
		b.dirty.fail(errors.New("no answer"))
		for i := range 1000 {
			b.broker.publish("storm", fmt.Sprint("s", i))
		}
		synctest.Wait()
		if stats := b.intake.Stats(); stats.Held+stats.Ready+stats.InFlight > 400 {
			t.Errorf("%+v; want no more than 400 here", stats)
		}
		b.halt()
	})
}

func TestWaitBeyondMaxHeldIsParkedBeforeTheAck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := baseOptions
		opts.MaxHeld = 2
		b := run(t, opts, func(_ context.Context, _ push.Ref, observe func()) push.Outcome {
			observe()
			return push.Hold{Until: time.Now().Add(10 * time.Second), Cause: reason.Throttled}
		})
		for i := range 5 {
			b.broker.publish("acme", fmt.Sprint("c", i))
			synctest.Wait()
		}
		if unacked, acked, _ := b.broker.counts(); unacked != 2 || acked != 3 {
			t.Errorf("un-acked %d, acked %d; want 2 and 3", unacked, acked)
		}
		for _, m := range b.dirty.all() {
			if m.Reason != reason.Overflow || m.Tenant != "acme" || !m.Due.After(time.Now()) {
				t.Errorf("mark %+v; want an overflow that is due later", m)
			}
		}
		if n := len(b.dirty.all()); n != 3 {
			t.Errorf("%d marks; want 3", n)
		}
		b.halt()
	})
}

func TestDirtySetThatCannotBeWrittenKeepsTheMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, baseOptions, func(_ context.Context, ref push.Ref, observe func()) push.Outcome {
			observe()
			return push.Park{Mark: push.Mark{Ref: ref, Reason: reason.UnknownCode}}
		})
		b.dirty.err = errDown
		b.broker.publish("acme", "c404")
		pass(100 * time.Millisecond)
		if unacked, acked, _ := b.broker.counts(); unacked != 1 || acked != 0 {
			t.Errorf("un-acked %d, acked %d while the dirty set is down; want 1 and 0", unacked, acked)
		}
		b.dirty.mu.Lock()
		b.dirty.err = nil
		b.dirty.mu.Unlock()
		pass(2 * time.Second)
		if unacked, acked, _ := b.broker.counts(); unacked != 0 || acked != 1 || len(b.dirty.all()) != 1 {
			t.Errorf("un-acked %d, acked %d, marks %v; want the mark and then the ack", unacked, acked, b.dirty.all())
		}
		b.halt()
	})
}

func TestFailureThatCouldNotBeRecordedBacksOffByRedeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, baseOptions, func(_ context.Context, _ push.Ref, observe func()) push.Outcome {
			observe()
			return push.Fail{Class: reason.StoreDown, Err: errDown}
		})
		b.broker.publish("acme", "c1")
		pass(60 * time.Second)
		runs := b.refresher.runs()
		for i := 1; i < len(runs); i++ {
			want := min(baseOptions.Stumble<<(i-1), 12800*time.Millisecond) + nackDelay
			if got := runs[i] - runs[i-1]; got != want {
				t.Errorf("wait %d: %v; want %v", i, got, want)
			}
		}
		if unacked, _, _ := b.broker.counts(); unacked != 1 {
			t.Errorf("un-acked %d; want 1", unacked)
		}
		b.halt()
	})
}

func TestCodeThatPanicsAgainAndAgainBecomesDirty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, baseOptions, func(_ context.Context, _ push.Ref, _ func()) push.Outcome {
			return push.Fail{Class: reason.Panicked, Err: errDown}
		})
		b.broker.publish("acme", "c1")
		pass(time.Minute)
		marks := b.dirty.all()
		if len(marks) != 1 || marks[0].Reason != reason.Panicked || len(b.refresher.runs()) != baseOptions.MaxFailures+1 {
			t.Errorf("marks %+v after %d runs; want one after %d", marks, len(b.refresher.runs()), baseOptions.MaxFailures+1)
		}
		b.halt()
	})
}

func TestPoisonIsBuriedWithoutHoldingUpTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, baseOptions, observeAndDone)
		b.broker.mu.Lock()
		b.broker.deadLetterErr = errDown
		b.broker.mu.Unlock()
		b.broker.publishPoison()
		b.broker.publish("acme", "c1")
		synctest.Wait()
		if unacked, acked, _ := b.broker.counts(); unacked != 1 || acked != 1 {
			t.Errorf("un-acked %d, acked %d; want the poison kept and the event done", unacked, acked)
		}
		b.broker.mu.Lock()
		b.broker.deadLetterErr = nil
		b.broker.mu.Unlock()
		pass(time.Second)
		if unacked, _, _ := b.broker.counts(); unacked != 0 || len(b.broker.deadLetters) != 1 {
			t.Errorf("un-acked %d, dead letters %d; want 0 and 1", unacked, len(b.broker.deadLetters))
		}
		if diff := cmp.Diff([]reason.Reason{reason.NoKey}, b.observer.buried); diff != "" {
			t.Errorf("counted causes (-want +got):\n%s", diff)
		}
		b.halt()
	})
}

func TestStopFinishesWhatIsInFlightAndStartsNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := baseOptions
		opts.Workers = 1
		b := run(t, opts, func(_ context.Context, _ push.Ref, observe func()) push.Outcome {
			observe()
			spend(2 * time.Second)
			return push.Done{Reason: reason.Pushed}
		})
		b.broker.publish("acme", "c1")
		synctest.Wait()
		b.broker.publish("acme", "c2")
		synctest.Wait()
		b.halt()
		if unacked, acked, _ := b.broker.counts(); unacked != 1 || acked != 1 {
			t.Errorf("un-acked %d, acked %d; want the one in flight finished and the other left to a sibling", unacked, acked)
		}
	})
}

func TestStopCancelsWorkThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, baseOptions, func(ctx context.Context, _ push.Ref, observe func()) push.Outcome {
			observe()
			<-ctx.Done()
			return push.Fail{Class: reason.StoreDown, Err: ctx.Err()}
		})
		b.broker.publish("acme", "c1")
		synctest.Wait()
		started := time.Now()
		b.halt()
		if took := time.Since(started); took != baseOptions.DrainTimeout {
			t.Errorf("stopped after %v; want the drain timeout", took)
		}
		if unacked, acked, _ := b.broker.counts(); unacked != 1 || acked != 0 {
			t.Errorf("un-acked %d, acked %d; want the message kept", unacked, acked)
		}
	})
}

func TestBrokenSubscriptionEndsTheRunWithItsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, baseOptions, observeAndDone)
		b.broker.receiveErr <- errDown
		if err := <-b.stopped; err == nil || !b.broker.flushed {
			t.Errorf("Run() = %v, flushed %v; want the cause, after an orderly end", err, b.broker.flushed)
		}
		b.stop()
	})
}

func TestStormOfOneTenantLeavesTheTurnOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		finished := make(chan string, 10_000)
		b := run(t, baseOptions, func(_ context.Context, ref push.Ref, observe func()) push.Outcome {
			observe()
			spend(10 * time.Millisecond)
			finished <- ref.Tenant
			return push.Done{Reason: reason.Pushed}
		})
		for i := range 1000 {
			b.broker.publish("storm", fmt.Sprint("s", i))
		}
		synctest.Wait()
		b.broker.publish("calm", "c1")
		pass(25 * time.Millisecond)
		calm := 0
		for len(finished) > 0 {
			if <-finished == "calm" {
				calm++
			}
		}
		if calm != 1 {
			t.Error("a calm tenant's code waited behind another tenant's storm")
		}
		pass(10 * time.Second)
		b.halt()
	})
}
