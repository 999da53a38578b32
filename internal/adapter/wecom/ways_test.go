package wecom_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
)

func orderOf(user string) contactway.Order {
	return contactway.Order{
		Kind: contactway.Multi, Users: []string{user}, Remark: "rollcall:abc", State: "s", SkipVerify: true,
		SendBy: time.Now().Add(time.Minute),
	}
}

func TestWaysOnTheSim(t *testing.T) {
	s := newSimBench(t, wecomsim.Options{})
	ways, ctx := wecom.NewWays(s.vendor, wecom.WaysOptions{}), t.Context()
	began := time.Now().Add(-time.Second)
	made, err := ways.Add(ctx, tenant, orderOf("amy"))
	if err != nil {
		t.Fatal(err)
	}
	got, there, err := ways.Get(ctx, tenant, made.ConfigID)
	want := contactway.Way{
		ConfigID: made.ConfigID, QRCode: made.QRCode, Kind: contactway.Multi, Remark: "rollcall:abc", State: "s",
		SkipVerify: true, Users: []string{"amy"},
	}
	if diff := cmp.Diff(want, got); diff != "" || !there || err != nil {
		t.Errorf("get: %v, %v (-want +got):\n%s", there, err, diff)
	}
	single := orderOf("bob")
	single.Kind = contactway.Single
	second, err := ways.Add(ctx, tenant, single)
	if err != nil {
		t.Fatal(err)
	}
	window := contactway.Window{From: began, To: time.Now()}
	if ids := listed(t, ways.List(ctx, tenant, window)); !slices.Equal(ids, []string{made.ConfigID, second.ConfigID}) {
		t.Errorf("listed %v", ids)
	}
	before := contactway.Window{From: began.Add(-time.Hour), To: began.Add(-time.Minute)}
	if ids := listed(t, ways.List(ctx, tenant, before)); len(ids) != 0 {
		t.Errorf("listed %v of another time", ids)
	}
	for range 2 { // one that is not there is removed
		if err := ways.Delete(ctx, tenant, made.ConfigID); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
	if _, there, err := ways.Get(ctx, tenant, made.ConfigID); there || err != nil {
		t.Errorf("after its deletion: %v, %v", there, err)
	}
}

func listed(t *testing.T, seq func(func(string, error) bool)) []string {
	t.Helper()
	var ids []string
	for id, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// Whatever goes wrong, a contact way whose making is said to be surely not
// applied is not there.
func TestWaysUnderFaults(t *testing.T) {
	for _, test := range []struct {
		rule    fault.Rule
		applied bool
		unknown bool
	}{
		{rule: fault.Rule{Action: fault.Reset, Phase: fault.Before}, unknown: true},
		{rule: fault.Rule{Action: fault.Reset, Phase: fault.After}, unknown: true, applied: true},
		{rule: fault.Rule{Action: fault.Status, Status: 502, Phase: fault.After}, unknown: true, applied: true},
		{rule: fault.Rule{Action: fault.ErrCode, ErrCode: -1, Phase: fault.Before}, unknown: true},
		{rule: fault.Rule{Action: fault.ErrCode, ErrCode: 41045, Phase: fault.Before}},
		{rule: fault.Rule{Action: fault.Timeout, Phase: fault.After, Hang: time.Minute}, unknown: true, applied: true},
	} {
		t.Run(test.rule.Name(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSimBench(t, wecomsim.Options{})
				test.rule.API = wecom.OpAdd
				if _, err := s.sim.AddFault(test.rule); err != nil {
					t.Fatal(err)
				}
				_, err := wecom.NewWays(s.vendor, wecom.WaysOptions{}).Add(t.Context(), tenant, orderOf("amy"))
				got := callError(t, err)
				if applied := s.sim.WayCount(corpID) == 1; got.Unknown != test.unknown || applied != test.applied {
					t.Errorf("unknown %t, applied %t: %v", got.Unknown, applied, got)
				}
			})
		})
	}
}

// A contact way is not made after the last instant for sending it.
func TestWaysAreNotMadeLate(t *testing.T) {
	s := newSimBench(t, wecomsim.Options{})
	order := orderOf("amy")
	order.SendBy = time.Now().Add(-time.Millisecond)
	_, err := wecom.NewWays(s.vendor, wecom.WaysOptions{}).Add(t.Context(), tenant, order)
	if got := callError(t, err); got.Unknown || !errors.Is(err, wecom.ErrTooLate) || s.sim.WayCount(corpID) != 0 {
		t.Errorf("%v; WeCom has %d", err, s.sim.WayCount(corpID))
	}
}

// A burst goes at once, then one every half second for each tenant; what would
// wait too long is not made and says so.
func TestWaysArePaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSimBench(t, wecomsim.Options{})
		ways := wecom.NewWays(s.vendor, wecom.WaysOptions{PerSecond: 2, Burst: 10, Wait: 2 * time.Second})
		add := func(ctx context.Context) error {
			_, err := ways.Add(ctx, tenant, orderOf("amy"))
			return err
		}
		began := time.Now()
		for range 14 {
			if err := add(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began).Round(time.Millisecond); took != 2*time.Second {
			t.Errorf("14 took %v, want 2s for the 4 beyond the burst", took)
		}
		errs := make(chan error)
		for range 8 {
			go func() { errs <- add(t.Context()) }()
		}
		throttled := 0
		for range 8 {
			err := <-errs
			if call, ok := errors.AsType[*push.CallError](err); ok && push.Classify(call) == reason.Throttled && !call.Unknown {
				throttled++
			}
		}
		if throttled != 4 || s.sim.WayCount(corpID) != 18 {
			t.Errorf("%d were throttled and %d made; want 4 of 8, as 4 fit into the wait", throttled, s.sim.WayCount(corpID))
		}
		hurried, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if got := callError(t, add(hurried)); got.Unknown || !errors.Is(got, context.DeadlineExceeded) {
			t.Errorf("who does not wait: %v", got)
		}
	})
}

// WeCom's 45009 stops the tenant's calls for a minute; each would prolong it.
func TestWaysHeedABlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSimBench(t, wecomsim.Options{})
		ways := wecom.NewWays(s.vendor, wecom.WaysOptions{})
		if _, err := s.sim.AddFault(fault.Rule{API: wecom.OpAdd, Action: fault.ErrCode, ErrCode: 45009, Count: 1}); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			_, err := ways.Add(t.Context(), tenant, orderOf("amy"))
			if got := callError(t, err); got.Unknown {
				t.Errorf("got %v", got)
			}
		}
		if n := s.sim.Counters().Of(wecom.OpAdd, 45009) + s.sim.Counters().Of(wecom.OpAdd, 0); n != 1 {
			t.Errorf("%d calls while the API is blocked, want the one that was refused", n)
		}
		elapse(time.Minute)
		if _, err := ways.Add(t.Context(), tenant, orderOf("amy")); err != nil {
			t.Errorf("a minute later: %v", err)
		}
	})
}

// The breakers are those of pushes: a tenant whose pushes fail makes no contact
// ways either.
func TestWaysShareTheBreakers(t *testing.T) {
	s := newSimBench(t, wecomsim.Options{})
	if _, err := s.sim.AddFault(fault.Rule{API: wecom.OpUpdate, Action: fault.Status, Status: 503}); err != nil {
		t.Fatal(err)
	}
	call := pushCall(time.Now().Add(time.Minute))
	for range 5 {
		_ = s.vendor.Update(t.Context(), call)
	}
	_, err := wecom.NewWays(s.vendor, wecom.WaysOptions{}).Add(t.Context(), tenant, orderOf("amy"))
	if got := callError(t, err); got.Class != reason.BreakerOpen {
		t.Errorf("got %v, want %s", err, reason.BreakerOpen)
	}
}
