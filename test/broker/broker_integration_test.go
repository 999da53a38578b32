//go:build integration

package broker_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

const maxHold = 15 * time.Second

// holdUntil holds codes with the prefix until the instant, and is done with
// all others.
func holdUntil(prefix string, until *atomic.Int64, cause reason.Reason) func(push.Ref) push.Outcome {
	return func(ref push.Ref) push.Outcome {
		at := time.Unix(0, until.Load())
		if strings.HasPrefix(ref.Code, prefix) && time.Now().Before(at) {
			return push.Hold{Until: at, Cause: cause}
		}
		return done(ref)
	}
}

func in(d time.Duration) *atomic.Int64 {
	var at atomic.Int64
	at.Store(time.Now().Add(d).UnixNano())
	return &at
}

func TestHeldCodesNewerEventMergesAndOneMessageStaysUnacked(t *testing.T) {
	tp := newTopic(t)
	until := in(8 * time.Second)
	c := tp.consume("only", holdUntil("held", until, reason.Backoff))
	tp.publish("held")
	eventually(t, 5*time.Second, "the code is held", func() bool { return c.intake.Stats().Held == 1 })
	for range 20 {
		tp.publish("held")
	}
	eventually(t, 5*time.Second, "all but one of 21 messages are acked", func() bool { return tp.stats().Backlog == 1 })
	if s := tp.stats(); s.Unacked != 1 {
		t.Errorf("%d messages un-acked; want exactly 1", s.Unacked)
	}
	if n := c.count("held"); n != 1 {
		t.Errorf("%d refreshes while held; want 1", n)
	}
	eventually(t, 15*time.Second, "the last message is acked", func() bool { return tp.stats().Backlog == 0 })
	if n := c.count("held"); n != 2 {
		t.Errorf("%d refreshes in all; want 2 for 21 events", n)
	}
}

func TestHeldMessageComesBackToTheKeysOwnerAtItsDeadline(t *testing.T) {
	const limit = 250 * time.Millisecond
	worst := quietest(limit, func() time.Duration { return lateness(t) })
	if worst > limit {
		t.Errorf("the slowest came back %v after its deadline; want %v at most", worst, limit)
	}
}

// lateness holds codes to deadlines of their own and returns how long after
// its deadline the slowest was back with its key's owner.
func lateness(t *testing.T) time.Duration {
	t.Helper()
	tp := newTopic(t)
	codes := names("held", 200)
	deadlines := map[string]time.Time{} // ten milliseconds apart, as slots are
	for i, code := range codes {
		deadlines[code] = time.Now().Add(3*time.Second + time.Duration(i)*10*time.Millisecond)
	}
	refresh := func(ref push.Ref) push.Outcome {
		if at := deadlines[ref.Code]; time.Now().Before(at) {
			return push.Hold{Until: at, Cause: reason.Backoff}
		}
		return done(ref)
	}
	consumers := []*consumer{tp.consume("a", refresh), tp.consume("b", refresh), tp.consume("c", refresh)}
	tp.publishMany(codes)
	eventually(t, 20*time.Second, "every code is done", func() bool { return tp.stats().Backlog == 0 })
	for _, code := range codes {
		owners := 0
		for _, c := range consumers {
			if c.count(code) > 0 {
				owners++
			}
		}
		if owners != 1 {
			t.Errorf("code %s was with %d consumers; want 1", code, owners)
		}
	}
	var late []time.Duration
	for _, c := range consumers {
		for _, r := range c.ran() {
			if after := r.at.Sub(deadlines[r.code]); after >= 0 {
				late = append(late, after)
			}
		}
	}
	slices.Sort(late)
	if len(late) != len(codes) {
		t.Fatalf("%d refreshes after the deadline; want %d", len(late), len(codes))
	}
	p50, worst := late[len(late)/2], late[len(late)-1]
	t.Logf("%d codes back after their deadline: p50 %v, worst %v", len(late), p50, worst)
	return worst
}

func TestJoiningConsumerDelaysOtherKeysLittleWhenHoldsAreHandedBack(t *testing.T) {
	const limit = 1500 * time.Millisecond
	worst := quietest(limit, func() time.Duration { return joinWithHolds(t, true) })
	if worst > limit {
		t.Errorf("other keys waited up to %v during the join; want %v at most", worst, limit)
	}
}

func TestJoiningConsumerDelaysOtherKeysNoLongerThanMaxHoldWhenTheHintIsLost(t *testing.T) {
	worst := joinWithHolds(t, false)
	if worst > maxHold+1500*time.Millisecond {
		t.Errorf("other keys waited up to %v during the join; want MaxHold (%v) at most", worst, maxHold)
	}
}

// joinWithHolds holds 10 000 codes in one consumer, lets another join, with or
// without telling the first, and returns the longest time from publish to
// refresh of other keys around the join.
func joinWithHolds(t *testing.T, hint bool) time.Duration {
	tp := newTopic(t)
	until := in(time.Hour)
	refresh := holdUntil("held", until, reason.Throttled)
	first := tp.consume("first", refresh)
	tp.publishMany(names("held", 10_000))
	eventually(t, 60*time.Second, "10 000 codes are held", func() bool { return first.intake.Stats().Held >= 9_900 })

	flow := startFlow(tp)
	steady := flow.during(t, 2*time.Second, first)
	second := tp.consume("second", refresh)
	if hint {
		first.joins <- struct{}{}
	}
	worst := flow.during(t, maxHold+4*time.Second, first, second)
	until.Store(time.Now().UnixNano())
	flow.stop()
	t.Logf("hint %v: other keys waited at most %v before the join, %v from the join on", hint, steady, worst)
	if len(second.ran()) == 0 {
		t.Error("the consumer that joined got nothing")
	}
	eventually(t, 90*time.Second, "everything is done", func() bool { return tp.stats().Backlog == 0 })
	return worst
}

// Scaling in: a consumer that goes hands its keys over with it, held ones too.
func TestLeavingConsumerDelaysOtherKeysNoLongerThanMaxHold(t *testing.T) {
	tp := newTopic(t)
	until := in(time.Hour)
	refresh := holdUntil("held", until, reason.Throttled)
	stays, goes := tp.consume("stays", refresh), tp.consume("goes", refresh)
	tp.publishMany(names("held", 10_000))
	eventually(t, 60*time.Second, "10 000 codes are held, by both", func() bool {
		a, b := stays.intake.Stats().Held, goes.intake.Stats().Held
		return a+b >= 9_900 && a > 2_000 && b > 2_000
	})
	handed := goes.intake.Stats().Held

	flow := startFlow(tp)
	steady := flow.during(t, 2*time.Second, stays, goes)
	left := make(chan time.Duration, 1)
	begun := time.Now()
	go func() {
		goes.close(t)
		left <- time.Since(begun)
	}()
	worst := flow.during(t, 6*time.Second, stays, goes)
	flow.stop()
	took := <-left
	t.Logf("%d held codes handed over in %v; other keys waited at most %v before, %v from then on", handed, took, steady, worst)
	if worst > maxHold {
		t.Errorf("other keys waited up to %v when a consumer left; want MaxHold (%v) at most", worst, maxHold)
	}
	eventually(t, 30*time.Second, "the one that stays holds them all", func() bool { return stays.intake.Stats().Held >= 9_900 })
	until.Store(time.Now().UnixNano())
	eventually(t, 90*time.Second, "everything is done", func() bool { return tp.stats().Backlog == 0 })
}

func TestGracefulStopUnderLoadLosesNothing(t *testing.T) {
	tp := newTopic(t)
	slow := func(ref push.Ref) push.Outcome {
		wait := time.NewTimer(2 * time.Millisecond)
		<-wait.C
		return done(ref)
	}
	a, b := tp.consume("a", slow), tp.consume("b", slow)
	codes := names("c", 2_000)
	tp.publishMany(codes[:1000])
	eventually(t, 30*time.Second, "both are at work", func() bool { return len(a.ran()) > 0 && len(b.ran()) > 0 })
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		a.close(t)
	}()
	tp.publishMany(codes[1000:])
	<-stopped
	eventually(t, 30*time.Second, "the other consumer works off the rest", func() bool { return tp.stats().Backlog == 0 })
	for _, code := range codes {
		if a.count(code)+b.count(code) == 0 {
			t.Errorf("code %s was acked by nobody who worked on it", code)
		}
	}
	if len(b.ran()) == 0 || len(a.ran()) == 0 {
		t.Errorf("a ran %d, b ran %d; both should have worked", len(a.ran()), len(b.ran()))
	}
}
