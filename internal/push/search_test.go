package push_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

func TestRefusedMemberIsFoundAndTheRestPushed(t *testing.T) {
	for _, bad := range []string{"ann", "bob", "cyd"} {
		t.Run(bad, func(t *testing.T) {
			r := newRig(t, roster.Native)
			r.vendor.BadMembers[bad] = 60111
			r.want(push.Done{Reason: reason.Pushed, NextChange: t0.Add(6 * time.Hour)})
			r.wantListed(slices.DeleteFunc([]string{"ann", "bob", "cyd"}, func(s string) bool { return s == bad })...)
			if got := r.store.Peek(r.ref).Staff[bad].QuarantinedUntil; !got.Equal(t0.Add(6 * time.Hour)) {
				t.Errorf("in quarantine until %v; want 6 hours from now", got)
			}
			record := r.store.Record(r.ref)
			if record.Search.List != "" || record.Failure.Streak != 0 || len(record.Intents) != 0 {
				t.Errorf("record %+v; want neither a search nor a failure nor an intent left", record)
			}
		})
	}
}

// TestRefusedMembersAreFoundInFewCalls takes lists of all sizes with up to
// three bad members, and cuts the search off by throttles.
func TestRefusedMembersAreFoundInFewCalls(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		n := 2 + rnd.IntN(99)
		bad := rnd.Perm(n)[:1+rnd.IntN(min(3, (n+1)/2))]
		r := newRig(t, roster.Native)
		r.list(n)
		var want []string
		for i := range n {
			if slices.Contains(bad, i) {
				r.vendor.BadMembers[member(i)] = 84074
			} else {
				want = append(want, member(i))
			}
		}
		r.budget.Answer = func(push.Ask) (push.Admission, error) {
			if rnd.IntN(3) == 0 {
				return push.Admission{At: r.clock.Now().Add(time.Second), Booked: true, Cause: reason.Throttled}, nil
			}
			return push.Admission{Granted: true, Expires: r.clock.Now().Add(time.Second)}, nil
		}
		refreshes := r.refreshUntilDone()
		r.wantListed(want...)
		calls, limit := len(r.vendor.Sent()), 1+len(bad)*(bits.Len(uint(n))+2)
		if calls > limit {
			t.Errorf("%d members, %d bad: %d calls in %d refreshes; want at most %d", n, len(bad), calls, refreshes, limit)
		}
		for _, sent := range r.vendor.Sent() {
			if len(sent.Members) == 0 || !slices.IsSorted(sent.Members) {
				t.Fatalf("sent %v; want a part of the list, in its order", sent.Members)
			}
		}
	}
}

// TestEveryMemberRefusedIsTheAppsFault: the search ends before it has emptied
// the tenant's lists.
func TestEveryMemberRefusedIsTheAppsFault(t *testing.T) {
	r := newRig(t, roster.Native)
	r.list(40)
	for i := range 40 {
		r.vendor.BadMembers[member(i)] = 60011
	}
	for range 40 {
		r.refresh()
		r.clock.Advance(10 * time.Second)
	}
	quarantined := 0
	for _, s := range r.store.Peek(r.ref).Staff {
		if !s.QuarantinedUntil.IsZero() {
			quarantined++
		}
	}
	park, ok := r.refresh().(push.Park)
	if !ok || park.Mark.Reason != reason.BadMember || quarantined != 8 {
		t.Errorf("%d in quarantine, then %+v; want 8, then the code parked for its bad members", quarantined, park)
	}
}

func TestSearchStartsOverWhenTheListIsAnother(t *testing.T) {
	r := newRig(t, roster.Native)
	r.vendor.BadMembers["cyd"] = 40003
	granted := 2
	r.budget.Answer = func(push.Ask) (push.Admission, error) {
		if granted--; granted < 0 {
			return push.Admission{At: r.clock.Now().Add(time.Second), Booked: true, Cause: reason.Throttled}, nil
		}
		return push.Admission{Granted: true, Expires: r.clock.Now().Add(time.Second)}, nil
	}
	r.want(push.Hold{Until: t0.Add(time.Second), Cause: reason.Throttled})
	if diff := cmp.Diff([]string{"bob", "cyd"}, r.store.Record(r.ref).Search.Suspects); diff != "" {
		t.Fatalf("suspects in the record (-want +got):\n%s", diff)
	}
	r.setPresence("ann", roster.OfflineNow)
	delete(r.vendor.BadMembers, "cyd")
	granted = 10
	r.want(push.Done{Reason: reason.Pushed})
	r.wantListed("bob", "cyd")
}

func TestQuarantineEndsAndIsTriedAgain(t *testing.T) {
	r := newRig(t, roster.Native)
	r.vendor.BadMembers["bob"] = 41054
	r.refreshUntilDone()
	delete(r.vendor.BadMembers, "bob") // he has activated his account
	r.clock.Advance(6 * time.Hour)
	r.want(push.Done{Reason: reason.Pushed})
	r.wantListed("ann", "bob", "cyd")
}

func member(i int) string { return fmt.Sprintf("m%03d", i) }

// list makes the code's members m000, m001 and so on.
func (r *rig) list(n int) {
	r.store.EditCode("c1", func(c *roster.Code) {
		c.Members = nil
		for i := range n {
			c.Members = append(c.Members, roster.Member{Staff: member(i)})
		}
	})
	for i := range n {
		r.store.PutStaff("acme", roster.Staff{ID: member(i), Presence: roster.Online})
	}
}

// refreshUntilDone lets time pass at each hold, and returns how many it took.
func (r *rig) refreshUntilDone() int {
	r.Helper()
	for i := range 200 {
		switch out := r.refresh().(type) {
		case push.Done:
			return i + 1
		case push.Hold:
			r.clock.Set(out.Until)
		default:
			r.Fatalf("outcome %+v", out)
		}
	}
	r.Fatal("200 refreshes, and not done")
	return 0
}
