package push_test

import (
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// An operator's hold keeps the list at WeCom as it is: no call, and nothing in the
// record. It ends by itself or when it is released.
func TestAHoldKeepsTheList(t *testing.T) {
	stop := roster.Stop{Since: t0, By: "ann", Why: "incident 42"}
	ending := stop
	ending.Until = t0.Add(time.Minute)
	far := stop
	far.Until = t0.Add(time.Hour)
	mark := push.Mark{Reason: reason.OnHold, Due: t0.Add(time.Hour)}
	long := push.Mark{Reason: reason.OnHold, Due: t0.Add(time.Hour)}
	tests := map[string]struct {
		code, tenant roster.Stop
		want         push.Outcome
	}{
		"on the code, with an end":          {code: ending, want: push.Hold{Until: ending.Until, Cause: reason.OnHold}},
		"on the tenant, with an end":        {tenant: ending, want: push.Hold{Until: ending.Until, Cause: reason.OnHold}},
		"without an end":                    {code: stop, want: push.Park{Mark: mark}},
		"far away":                          {tenant: far, want: push.Park{Mark: long}},
		"the longer one counts":             {code: ending, tenant: far, want: push.Park{Mark: long}},
		"one without an end is the longest": {code: stop, tenant: far, want: push.Park{Mark: mark}},
		"its tenant's may be the longest":   {code: far, tenant: stop, want: push.Park{Mark: mark}},
		"one that has ended":                {code: roster.Stop{Since: t0.Add(-time.Hour), Until: t0}, want: push.Done{Reason: reason.Pushed}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, roster.Native)
			r.want(push.Done{Reason: reason.Pushed})
			r.setPresence("ann", roster.OfflineNow)
			r.store.EditCode(r.ref.Code, func(c *roster.Code) { c.Hold = test.code })
			r.store.EditTenant(r.ref.Tenant, func(of *roster.Tenant) { of.Hold = test.tenant })
			if park, parked := test.want.(push.Park); parked {
				park.Mark.Ref = r.ref
				test.want = park
			}
			calls := len(r.vendor.Sent())
			r.want(test.want)
			if _, pushed := test.want.(push.Done); !pushed && len(r.vendor.Sent()) != calls {
				t.Error("WeCom was called")
			}
		})
	}
}
