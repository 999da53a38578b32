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

// switchTo switches the tenant's mode as the registry does.
func (r *rig) switchTo(mode roster.Mode) {
	r.store.EditTenant("acme", func(t *roster.Tenant) {
		t.Mode = mode
		t.Term++
	})
}

func TestAShadowedCodeIsOnlyNoted(t *testing.T) {
	for _, family := range []roster.Family{roster.Native, roster.Sequenced} {
		t.Run(string(family), func(t *testing.T) {
			r := newRig(t, family)
			r.switchTo(roster.Shadow)
			r.setPresence("bob", roster.OfflineNow)
			r.want(push.Done{Reason: reason.Shadowed})
			got := r.shadows.Of(r.ref)
			if diff := cmp.Diff([]string{"ann", "cyd"}, got.Members); diff != "" || got.Revision != 1 || !got.At.Equal(t0) {
				t.Errorf("noted %+v; want the list of revision 1, decided at %v\n%s", got, t0, diff)
			}
			if !cmp.Equal(got.Why[1], roster.Judgement{Staff: "bob", Reason: reason.Offline}) {
				t.Errorf("bob is judged %+v; want offline", got.Why[1])
			}
			if _, there := r.rotation.Set(r.ref); there || len(r.vendor.Sent()) != 0 || r.store.Record(r.ref).Epoch != 0 {
				t.Error("a code in shadow mode was pushed, announced, or given a rotation set")
			}
		})
	}
}

func TestACodesOwnModeComesFirst(t *testing.T) {
	r := newRig(t, roster.Native)
	r.switchTo(roster.Shadow)
	r.store.EditCode("c1", func(c *roster.Code) { c.Mode = roster.Live })
	r.want(push.Done{Reason: reason.Pushed})
	r.store.EditCode("c1", func(c *roster.Code) { c.Mode, c.Term = roster.Shadow, 1 })
	r.switchTo(roster.Live)
	r.want(push.Done{Reason: reason.Shadowed})
}

// What WeCom holds after a time in shadow mode is another system's, whatever the
// record says.
func TestEveryTermBeginsWithAPush(t *testing.T) {
	r := newRig(t, roster.Native)
	r.want(push.Done{Reason: reason.Pushed})
	r.want(push.Done{Reason: reason.Unchanged})
	r.switchTo(roster.Shadow)
	r.switchTo(roster.Live) // no refresh saw the shadow
	r.want(push.Done{Reason: reason.Pushed})
	r.want(push.Done{Reason: reason.Unchanged})
	if n := len(r.vendor.Sent()); n != 2 {
		t.Errorf("%d calls; want one in each term", n)
	}
}

func TestASwitchDuringAPushEndsWithTheShadow(t *testing.T) {
	r := newRig(t, roster.Native)
	r.vendor.Step = func(op string) {
		if op == pushtest.OpUpdate {
			r.switchTo(roster.Shadow)
		}
	}
	r.want(push.Done{Reason: reason.Shadowed})
	if got := r.store.Record(r.ref); len(got.Intents) != 0 || len(r.vendor.Sent()) != 1 {
		t.Errorf("record %+v after %d calls; want the call under way, and its intent dropped", got, len(r.vendor.Sent()))
	}
	r.switchTo(roster.Live)
	r.vendor.Step = nil
	r.want(push.Done{Reason: reason.Pushed})
}

// An intent that is left open would keep the code dirty for ever.
func TestIntentsFromBeforeTheShadowAreSettled(t *testing.T) {
	r := newRig(t, roster.Native)
	r.switchTo(roster.Shadow)
	deadline := t0.Add(4 * time.Second)
	r.store.PutRecord(r.ref, push.Record{Code: "c1", Epoch: 2, Intents: []push.Intent{
		{Epoch: 1, Deadline: t0.Add(-time.Minute)}, {Epoch: 2, Deadline: deadline},
	}, Failure: push.Failure{Streak: 3}})
	r.want(push.Hold{Until: deadline.Add(margin), Cause: reason.Unsettled})
	r.clock.Set(deadline.Add(margin + 1))
	r.want(push.Done{Reason: reason.Shadowed})
	if got := r.store.Record(r.ref); len(got.Intents) != 0 || got.Failure.Streak != 0 {
		t.Errorf("record %+v; want nothing open and no failure", got)
	}
}

func TestTimeAloneChangesAShadowToo(t *testing.T) {
	r := newRig(t, roster.Native)
	r.switchTo(roster.Shadow)
	until := t0.Add(time.Hour)
	r.store.EditStaff("acme", "bob", func(s *roster.Staff) { s.QuarantinedUntil = until })
	r.want(push.Done{Reason: reason.Shadowed, NextChange: until})
	if got := r.store.Record(r.ref).NextChange; !got.Equal(until) {
		t.Errorf("the record expects %v; want %v", got, until)
	}
}
