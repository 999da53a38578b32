package push_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// bob is in quarantine until half past noon, so that the list changes then by
// time alone.
var half = t0.Add(30 * time.Minute)

func newClockRig(t *testing.T) *rig {
	r := newRig(t, roster.Native)
	r.quarantine("bob", half)
	return r
}

func (r *rig) quarantine(id string, until time.Time) {
	r.store.EditStaff("acme", id, func(s *roster.Staff) { s.QuarantinedUntil = until })
}

func (r *rig) wantExpected(want time.Time) {
	r.Helper()
	if got := r.store.Record(r.ref).NextChange; !got.Equal(want) {
		r.Errorf("the record expects a change at %v, want %v", got, want)
	}
}

// writes are the store's operations during run that change something.
func (r *rig) writes(run func()) (ops []string) {
	r.store.Step = func(op string) {
		if !strings.HasPrefix(op, "store.read.") {
			ops = append(ops, op)
		}
	}
	run()
	r.store.Step = nil
	return ops
}

func (r *rig) take() []pushtest.Change {
	r.Helper()
	taken, err := r.store.Changes().Take(r.Context(), "acme", r.clock.Now(), 9)
	if err != nil {
		r.Fatal(err)
	}
	return taken
}

func TestAPushExpectsTheNextChange(t *testing.T) {
	r := newClockRig(t)
	ops := r.writes(func() { r.want(push.Done{Reason: reason.Pushed, NextChange: half}) })
	r.wantExpected(half)
	if diff := cmp.Diff([]string{pushtest.OpBegin, pushtest.OpCommit}, ops); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// Most refreshes end here: they write nothing.
func TestAnUnchangedListWithAKnownChangeWritesNothing(t *testing.T) {
	r := newClockRig(t)
	r.refresh()
	if ops := r.writes(func() { r.want(push.Done{Reason: reason.Unchanged, NextChange: half}) }); len(ops) > 0 {
		t.Errorf("writes %v", ops)
	}
}

func TestAnUnchangedListExpectsAnEarlierChange(t *testing.T) {
	r := newClockRig(t)
	r.refresh()
	for _, step := range []struct {
		until, want time.Time
		ops         []string
	}{
		{half.Add(-time.Minute), half.Add(-time.Minute), []string{pushtest.OpExpectChange}},
		{half.Add(time.Hour), half.Add(-time.Minute), nil}, // the event of the edit moved it; an event too many does no harm
	} {
		r.quarantine("bob", step.until)
		ops := r.writes(func() { r.want(push.Done{Reason: reason.Unchanged, NextChange: step.until}) })
		if diff := cmp.Diff(step.ops, ops); diff != "" {
			t.Errorf("writes (-want +got):\n%s", diff)
		}
		r.wantExpected(step.want)
	}
}

// The keeper takes a change out before it publishes, so the refresh of that
// event expects the one after it.
func TestTheEventOfAChangeExpectsTheOneAfterIt(t *testing.T) {
	r := newClockRig(t)
	r.quarantine("cyd", half.Add(time.Hour))
	r.refresh()
	r.clock.Set(half)
	taken := r.take()
	r.want(push.Done{Reason: reason.Pushed, NextChange: half.Add(time.Hour)})
	r.wantListed("ann", "bob")
	if n, err := r.store.Changes().Finish(t.Context(), taken...); n != 1 || err != nil {
		t.Errorf("Finish = %d, %v", n, err)
	}
	r.wantExpected(half.Add(time.Hour))
	r.clock.Set(half.Add(time.Hour))
	r.take()
	r.want(push.Done{Reason: reason.Pushed})
	r.wantListed("ann", "bob", "cyd")
	r.wantExpected(time.Time{})
}

// A consumer whose clock is behind the keeper's sees nothing new yet. It expects
// the same instant again, and the keeper's end of the first change leaves that.
func TestAClockThatIsBehindExpectsTheSameChangeAgain(t *testing.T) {
	r := newClockRig(t)
	r.refresh()
	r.clock.Set(half)
	taken := r.take()
	r.clock.Set(half.Add(-time.Millisecond))
	r.want(push.Done{Reason: reason.Unchanged, NextChange: half})
	if _, err := r.store.Changes().Finish(t.Context(), taken...); err != nil {
		t.Error(err)
	}
	r.wantExpected(half)
}

// An edit between the two reads of the facts leaves the list alone and brings
// the change forward. Its event is covered by this refresh.
func TestTheSecondReadSaysWhatToExpect(t *testing.T) {
	r := newClockRig(t)
	r.vendor.Step = func(op string) {
		if op == pushtest.OpUpdate {
			r.quarantine("bob", half.Add(-10*time.Minute))
		}
	}
	r.want(push.Done{Reason: reason.Pushed, NextChange: half.Add(-10 * time.Minute)})
	r.wantExpected(half.Add(-10 * time.Minute))
}

// A refresh stands still before its last write. Meanwhile the change is brought
// forward, and another instance refreshes the code.
func TestOlderFactsPutNoChangeOff(t *testing.T) {
	r := newClockRig(t)
	r.refresh()
	r.clock.Set(half.Add(-time.Minute))
	r.quarantine("bob", half.Add(time.Hour))
	r.clock.Set(half)
	r.take()
	sooner := half.Add(time.Minute)
	r.store.Step = func(op string) {
		if op != pushtest.OpExpectChange {
			return
		}
		r.store.Step = nil
		r.quarantine("bob", sooner)
		r.want(push.Done{Reason: reason.Unchanged, NextChange: sooner})
	}
	r.want(push.Done{Reason: reason.Unchanged, NextChange: half.Add(time.Hour)})
	r.wantExpected(sooner)
}

// A change that cannot be noted is no reason to ack: nobody else would know.
func TestAChangeThatCannotBeNotedHoldsTheEvent(t *testing.T) {
	r := newClockRig(t)
	r.refresh()
	r.quarantine("bob", half.Add(-time.Minute))
	away := errors.New("store away")
	r.store.Before = func(op string) error {
		if op == pushtest.OpExpectChange {
			return away
		}
		return nil
	}
	out, failed := r.refresh().(push.Fail)
	if !failed || out.Class != reason.StoreDown || !errors.Is(out.Err, away) {
		t.Errorf("outcome %+v; want a failure of the store", out)
	}
	r.wantExpected(half)
}

func TestExpects(t *testing.T) {
	for _, c := range []struct {
		next, at time.Time
		want     bool
	}{
		{time.Time{}, time.Time{}, true},
		{half, time.Time{}, true},
		{time.Time{}, half, false},
		{half, half, true},
		{half.Add(-1), half, true},
		{half.Add(1), half, false},
	} {
		if got := (push.Record{NextChange: c.next}).Expects(c.at); got != c.want {
			t.Errorf("a record that changes at %v expects %v: %v", c.next, c.at, got)
		}
	}
}

// What is parked has a due time in the dirty set: the record need not know.
func TestAParkedCodeLeavesItsChangeToTheDirtySet(t *testing.T) {
	r := newClockRig(t)
	for _, id := range []string{"ann", "cyd", "eve"} {
		r.setPresence(id, roster.OfflineNow)
	}
	mark := push.Mark{Ref: r.ref, Reason: reason.NobodyLeft, Due: half}
	ops := r.writes(func() { r.want(push.Park{Mark: mark}) })
	if slices.Contains(ops, pushtest.OpExpectChange) {
		t.Errorf("writes %v", ops)
	}
}
