package pushtest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
)

var start = time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)

// What a caller is told and what the vendor then holds.
func TestVendorUpdate(t *testing.T) {
	lost := errors.New("connection reset")
	unknown := &push.CallError{Op: "update_contact_way", Unknown: true, Err: lost}
	tests := map[string]struct {
		config      string
		members     []string
		late        time.Duration
		answer      pushtest.Answer
		wantHeld    string
		wantErrCode int
		wantUnknown bool
		wantErr     bool
		wantSent    int
	}{
		"applied":                     {"cfg", []string{"b"}, 0, pushtest.Answer{}, "b", 0, false, false, 1},
		"applied and not answered":    {"cfg", []string{"b"}, 0, pushtest.Answer{Err: unknown}, "b", 0, true, true, 1},
		"neither applied nor known":   {"cfg", []string{"b"}, 0, pushtest.Answer{Err: unknown, Lost: true}, "a", 0, true, true, 1},
		"a success is never lost":     {"cfg", []string{"b"}, 0, pushtest.Answer{Lost: true}, "b", 0, false, false, 1},
		"past its deadline":           {"cfg", []string{"b"}, time.Minute, pushtest.Answer{}, "a", 0, false, true, 0},
		"of an unknown contact way":   {"no", []string{"b"}, 0, pushtest.Answer{}, "a", 41044, false, true, 1},
		"an empty list":               {"cfg", nil, 0, pushtest.Answer{}, "a", 40031, false, true, 1},
		"101 members":                 {"cfg", slices.Repeat([]string{"b"}, 101), 0, pushtest.Answer{}, "a", 41041, false, true, 1},
		"a member the vendor refuses": {"cfg", []string{"b", "bad"}, 0, pushtest.Answer{}, "a", 84074, false, true, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			clock := pushtest.NewClock(start)
			v := pushtest.NewVendor(clock)
			v.AddWay("cfg", "a")
			v.BadMembers["bad"] = 84074
			v.Answer = func(push.Call) pushtest.Answer { return test.answer }
			clock.Advance(test.late)
			err := v.Update(t.Context(), push.Call{ConfigID: test.config, Members: test.members, Deadline: start.Add(time.Second)})
			if (err != nil) != test.wantErr {
				t.Fatalf("Update = %v, want error %v", err, test.wantErr)
			}
			var call *push.CallError
			if err != nil && (!errors.As(err, &call) || call.ErrCode != test.wantErrCode || call.Unknown != test.wantUnknown) {
				t.Errorf("Update = %+v, want errcode %d, unknown %v", call, test.wantErrCode, test.wantUnknown)
			}
			if way, _ := v.Way("cfg"); strings.Join(way.Members, ",") != test.wantHeld {
				t.Errorf("the vendor holds %v, want %s", way.Members, test.wantHeld)
			}
			if sent := v.Sent(); len(sent) != test.wantSent {
				t.Errorf("%d calls were sent, want %d", len(sent), test.wantSent)
			}
		})
	}
}

// A call of which the caller heard nothing may land after a later one.
func TestVendorLandsLate(t *testing.T) {
	clock := pushtest.NewClock(start)
	v := pushtest.NewVendor(clock)
	v.AddWay("cfg", "a")
	v.Answer = func(c push.Call) pushtest.Answer {
		if c.Members[0] == "slow" {
			return pushtest.Answer{Err: &push.CallError{Unknown: true}, Lands: 5 * time.Second}
		}
		return pushtest.Answer{}
	}
	for _, member := range []string{"slow", "fast"} {
		err := v.Update(t.Context(), push.Call{ConfigID: "cfg", Members: []string{member}, Deadline: start})
		if (err != nil) != (member == "slow") {
			t.Errorf("%s: %v", member, err)
		}
	}
	held := func() string { way, _ := v.Way("cfg"); return way.Members[0] }
	if held() != "fast" || v.OnWire() != 1 {
		t.Errorf("the vendor holds %s with %d calls on the wire, want fast and 1", held(), v.OnWire())
	}
	clock.Advance(5 * time.Second)
	v.Land()
	if held() != "slow" || v.OnWire() != 0 {
		t.Errorf("the vendor holds %s with %d calls on the wire, want slow and 0", held(), v.OnWire())
	}
	v.RemoveWay("cfg")
	if ok, err := v.Exists(t.Context(), push.Ref{}, "cfg"); ok || err != nil {
		t.Errorf("Exists of a removed contact way = %v, %v", ok, err)
	}
}

// A caller who is answered waits until his call has landed, and lets others run
// meanwhile.
func TestVendorAnswersAfterLanding(t *testing.T) {
	clock := pushtest.NewClock(start)
	v := pushtest.NewVendor(clock)
	v.AddWay("cfg", "a")
	v.Answer = func(push.Call) pushtest.Answer { return pushtest.Answer{Lands: 3 * time.Second} }
	var steps []string
	v.Step = func(op string) {
		steps = append(steps, op)
		clock.Advance(time.Second)
	}
	if err := v.Update(t.Context(), push.Call{ConfigID: "cfg", Members: []string{"b"}, Deadline: start.Add(time.Minute)}); err != nil {
		t.Fatalf("Update: %v", err)
	}
	want := []string{pushtest.OpUpdate, pushtest.OpUpdateWire, pushtest.OpUpdateWire, pushtest.OpUpdateWire}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if way, _ := v.Way("cfg"); way.Members[0] != "b" {
		t.Errorf("the vendor holds %v after its answer", way.Members)
	}
}

// A caller who gives up while the call is under way cannot know.
func TestVendorCancelled(t *testing.T) {
	v := pushtest.NewVendor(pushtest.NewClock(start))
	v.AddWay("cfg", "a")
	v.Answer = func(push.Call) pushtest.Answer { return pushtest.Answer{Lands: time.Hour} }
	for _, at := range []string{pushtest.OpUpdate, pushtest.OpUpdateWire} {
		ctx, cancel := context.WithCancel(t.Context())
		v.Step = func(op string) {
			if op == at {
				cancel()
			}
		}
		err := v.Update(ctx, push.Call{ConfigID: "cfg", Members: []string{"b"}, Deadline: start})
		var call *push.CallError
		if !errors.As(err, &call) || !errors.Is(err, context.Canceled) || call.Unknown != (at == pushtest.OpUpdateWire) {
			t.Errorf("canceled at %s: %+v", at, err)
		}
		cancel()
	}
}
