package main

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/intervene"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// A mistake in an order is told before anything is asked of a server.
func TestMistakesInOrders(t *testing.T) {
	tests := map[string]struct {
		line string
		says string
	}{
		"no reason":        {"hold code c1", "say why: --reason TEXT"},
		"no such kind":     {"hold door c1 --reason x", "\"door\" is no kind of subject; want code, staff or tenant"},
		"no such lane":     {"lane code c1 quick --reason x", "\"quick\" is no lane; want fast, slow or auto"},
		"no lane":          {"lane code c1 --reason x", "accepts 3 arg(s), received 2"},
		"a negative while": {"hold code c1 --for -2h --reason x", "--for is -2h0m0s; want how long it lasts"},
		"no while at all":  {"hold code c1 --for 0s --reason x", "--for is 0s; want how long it lasts"},
		"an empty end":     {"suspend staff acme/amy --until= --reason x", "--until \"\" is no time"},
		"a past end":       {"hold code c1 --until 2020-11-30T10:00:00Z --reason x", "want an instant after now"},
		"a held person":    {"hold staff acme/amy --reason x", "hold staff acme/amy: no such order: a staff member is not held; suspend takes him off every list"},
		"a suspended code": {"suspend code c1 --reason x", "hold keeps its list as it is"},
		"no time":          {"suspend staff acme/amy --until noon --reason x", "--until \"noon\" is no time"},
		"two ends":         {"hold code c1 --for 1h --until 2026-11-30T10:00:00Z --reason x", "none of the others can be"},
		"an end of a lane": {"lane code c1 fast --for 1h --reason x", "unknown flag \"--for\""},
		"a typo":           {"relaese code c1", "Did you mean this?\n\trelease"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out, complaint strings.Builder
			if code := run(t.Context(), strings.Split(test.line, " "), &out, &complaint); code == exitOK || !strings.Contains(complaint.String(), test.says) {
				t.Errorf("exit %d: %s", code, complaint.String())
			}
		})
	}
}

func TestWhatAnOrderSays(t *testing.T) {
	code := intervene.Subject{Kind: intervene.Code, Tenant: "acme", ID: "c1"}
	done := func(o intervene.Order, d intervene.Done) func() string {
		return func() string { var b strings.Builder; _ = printDone(&b, o, d); return b.String() }
	}
	effect := []intervene.Point{{What: intervene.Returns, Count: 1}}
	tests := map[string]struct {
		says func() string
		want string
	}{
		"published": {
			done(intervene.Order{Action: decision.Release, Subject: code, By: "ann"}, intervene.Done{Weighed: intervene.Weighed{Effect: effect}, Published: registry.OnBroker}),
			"release code acme/c1:\n  1 code is recomputed, and what has changed meanwhile is pushed\nDone, and recorded as decided by ann.\n",
		},
		"the broker is away": {
			done(intervene.Order{Action: decision.Refresh, Subject: code, By: "ann"}, intervene.Done{Published: registry.InDirtySet}),
			"refresh code acme/c1:\n  the broker is away: the keeper brings the code back\nDone, and recorded as decided by ann.\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.says(); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestTheEndOfAHold(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	i := newIntervention(decision.Hold, &cobra.Command{})
	i.now, i.lasts = func() time.Time { return now }, 90*time.Minute
	if err := i.readEnd(); err != nil || !i.order.Until.Equal(now.Add(90*time.Minute)) {
		t.Errorf("%v, %v", i.order.Until, err)
	}
	i.lasts, i.until = 0, "2026-11-30T18:00:00+08:00"
	if err := i.readEnd(); err != nil || !i.order.Until.Equal(now.Add(-2*time.Hour)) {
		t.Errorf("%v, %v", i.order.Until, err)
	}
	for word, want := range map[string]roster.LaneSwitch{"fast": roster.LaneFast, "slow": roster.LaneSlow, "auto": roster.LaneAuto} {
		if got, err := laneNamed(word); err != nil || got != want {
			t.Errorf("%s: %q, %v", word, got, err)
		}
	}
}
