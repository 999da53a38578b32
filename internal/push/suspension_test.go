package push_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

var badSecret = pushtest.Answer{
	Err: &push.CallError{Op: "gettoken", HTTPStatus: 200, ErrCode: 40001, Message: "invalid credential"}, Lost: true,
}

func TestRefusedCredentialsStopTheTenantsCalls(t *testing.T) {
	r := newRig(t, roster.Native)
	r.answer(badSecret)
	r.want(push.Hold{Until: t0.Add(30 * time.Second), Cause: reason.Suspended})
	want := roster.Suspension{Since: t0, NextProbe: t0.Add(30 * time.Second), Detail: "gettoken: http 200: errcode 40001: invalid credential"}
	if diff := cmp.Diff(want, r.suspension()); diff != "" {
		t.Errorf("suspension (-want +got):\n%s", diff)
	}
	r.clock.Advance(29 * time.Second)
	r.want(push.Hold{Until: t0.Add(30 * time.Second), Cause: reason.Suspended})
	if n := len(r.vendor.Sent()); n != 1 {
		t.Errorf("%d calls; want the first alone", n)
	}
}

func TestSuspendedTenantIsProbedByOneCallAtATime(t *testing.T) {
	r := newRig(t, roster.Native)
	r.answer(badSecret)
	r.refresh()
	r.clock.Advance(30 * time.Second)
	r.vendor.Before = func(op string) error { // while the probe is on its way, a sibling comes
		if op == pushtest.OpUpdate {
			r.vendor.Before = nil
			r.want(push.Hold{Until: t0.Add(90 * time.Second), Cause: reason.Suspended})
		}
		return nil
	}
	r.want(push.Hold{Until: t0.Add(90 * time.Second), Cause: reason.Suspended})
	if n := len(r.vendor.Sent()); n != 2 {
		t.Errorf("%d calls; want the first and one probe", n)
	}
}

func TestProbesBecomeRare(t *testing.T) {
	r := newRig(t, roster.Native)
	r.answer(badSecret)
	r.opts.ParkAfter = time.Hour
	var waits []time.Duration
	for range 6 {
		hold, ok := r.refresh().(push.Hold)
		if !ok {
			t.Fatal("not held")
		}
		waits = append(waits, hold.Until.Sub(r.clock.Now()))
		r.clock.Set(hold.Until)
	}
	want := []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute, 5 * time.Minute}
	if diff := cmp.Diff(want, waits); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

func TestProbeThatSucceedsEndsTheSuspension(t *testing.T) {
	r := newRig(t, roster.Native)
	r.answer(badSecret)
	r.refresh()
	r.vendor.Answer = nil
	r.clock.Advance(30 * time.Second)
	r.want(push.Done{Reason: reason.Pushed})
	if s := r.suspension(); s.Active() {
		t.Errorf("still suspended: %+v", s)
	}
	r.wantListed("ann", "bob", "cyd")
}

// TestOldSuccessLeavesANewSuspension: a call that was on its way since before
// the tenant was suspended anew says nothing of the credentials now.
func TestOldSuccessLeavesANewSuspension(t *testing.T) {
	r := newRig(t, roster.Native)
	r.answer(badSecret)
	r.refresh()
	r.clock.Advance(30 * time.Second)
	newer := roster.Suspension{Since: t0, NextProbe: t0.Add(time.Hour)}
	r.vendor.Answer = func(push.Call) pushtest.Answer {
		if ok, err := r.store.Suspend(t.Context(), "acme", r.suspension().NextProbe, newer); !ok || err != nil {
			t.Fatalf("suspend anew: %v, %v", ok, err)
		}
		return pushtest.Answer{}
	}
	r.refresh()
	if diff := cmp.Diff(newer, r.suspension()); diff != "" {
		t.Errorf("suspension (-want +got):\n%s", diff)
	}
}

func (r *rig) suspension() roster.Suspension { return r.store.Peek(r.ref).Tenant.Suspension }
