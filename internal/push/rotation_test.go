package push_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// overtaking is a schedule of two workers on one code with a rotation set: the
// slow one has got as far as an operation when the facts change, and the fast
// one does its whole work, or part of it, before the slow one goes on.
type overtaking struct {
	name   string
	at     string // the slow worker's operation that the fast one comes before
	occurs int    // which occurrence of it
	// crash stops the fast worker once it has written the set; the facts then
	// return to what they were.
	crash bool
	// mutant is the step without which the set ends up wrong.
	mutant func(push.Ports) push.Ports
}

var overtakings = []overtaking{
	{
		name: "a newer set is not overwritten", at: pushtest.OpRotationReplace, occurs: 1,
		mutant: func(p push.Ports) push.Ports { p.Rotation = setAny{p.Rotation}; return p },
	},
	{
		name: "the version is older than the facts", occurs: 0,
		mutant: func(p push.Ports) push.Ports {
			late := &lateVersion{Rotation: p.Rotation}
			p.Rotation, p.Store = late, lateStore{p.Store, late}
			return p
		},
	},
	{
		name: "a set written during the push is seen after it", at: pushtest.OpUpdate, occurs: 1, crash: true,
		mutant: func(p push.Ports) push.Ports { p.Rotation = &noSetCheck{Rotation: p.Rotation}; return p },
	},
}

func TestSlowWorkerLeavesTheSetTrue(t *testing.T) {
	for _, o := range overtakings {
		t.Run(o.name, func(t *testing.T) {
			if got, want := o.play(t, noMutant); !cmp.Equal(got, want) {
				t.Errorf("the set is %v; the facts ask for %v", got, want)
			}
		})
	}
}

func TestEveryStepOfTheSetIsNeeded(t *testing.T) {
	for _, o := range overtakings {
		t.Run(o.name, func(t *testing.T) {
			if got, want := o.play(t, o.mutant); cmp.Equal(got, want) {
				t.Errorf("the set is %v, as the facts ask, although the step is missing", got)
			}
		})
	}
}

// play returns the staff of the set at the end and what the facts ask for.
func (o overtaking) play(t *testing.T, build func(push.Ports) push.Ports) (got, want []string) {
	r := newRig(t, roster.Sequenced)
	if o.crash { // the list has to need a push
		r.setPresence("bob", roster.OfflineNow)
	} else {
		r.want(push.Done{Reason: reason.Pushed})
	}
	slow := push.New(build(r.ports()), r.opts)
	seen, overtaken := 0, false
	overtake := func(op string) {
		if overtaken || !o.comes(op, &seen) {
			return
		}
		overtaken = true
		r.setPresence("cyd", roster.OfflineNow)
		if !o.crash {
			r.want(push.Done{Reason: reason.Pushed})
			return
		}
		r.writeSetOnly()
		r.setPresence("cyd", roster.Online)
	}
	r.store.Step, r.rotation.Step, r.vendor.Step = overtake, overtake, overtake
	slow.Refresh(context.Background(), r.ref, func() {})
	if !overtaken {
		t.Fatal("the fast worker never came: the test proves nothing")
	}
	set, _ := r.rotation.Set(r.ref)
	for _, seat := range set.Seats {
		got = append(got, seat.Staff)
	}
	verdict, err := roster.Decide(r.store.Peek(r.ref), roster.Last{}, roster.LaneRules{}, r.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, seat := range verdict.Rotation {
		want = append(want, seat.Staff)
	}
	return got, want
}

// comes reports whether op is the slow worker's one; occurs 0 is whatever
// follows the second read of the facts, the first one that knows of the set.
func (o overtaking) comes(op string, seen *int) bool {
	if o.occurs == 0 {
		if op == pushtest.OpReadStaff {
			*seen++
		}
		return *seen == 2 && (op == pushtest.OpRotationVersion || op == pushtest.OpRotationReplace)
	}
	if op == o.at {
		*seen++
	}
	return op == o.at && *seen == o.occurs
}

// writeSetOnly is a worker that crashes after its set.
func (r *rig) writeSetOnly() {
	version, err := r.rotation.Version(context.Background(), r.ref)
	if err != nil {
		r.Fatal(err)
	}
	verdict, err := roster.Decide(r.store.Peek(r.ref), roster.Last{}, roster.LaneRules{}, r.clock.Now())
	if err != nil {
		r.Fatal(err)
	}
	if _, ok, err := r.rotation.Replace(context.Background(), r.ref, version, push.Set{Seats: verdict.Rotation}); !ok || err != nil {
		r.Fatalf("write the set: %v, %v", ok, err)
	}
}

// A code whose contact way is still to be made has a rotation set, and nothing
// is sent; with the contact way comes the first list.
func TestACodeWithoutAContactWayIsNotPushed(t *testing.T) {
	r := newRig(t, roster.Sequenced)
	r.store.EditCode("c1", func(c *roster.Code) { c.ConfigID = "" })
	r.want(push.Done{Reason: reason.Wayless})
	if sent := r.vendor.Sent(); len(sent) > 0 {
		t.Errorf("sent %v", sent)
	}
	if set, ok := r.rotation.Set(r.ref); !ok || len(set.Seats) != 3 {
		t.Errorf("rotation set %v, %v", set, ok)
	}
	r.store.EditCode("c1", func(c *roster.Code) { c.ConfigID = "cfg1" })
	r.want(push.Done{Reason: reason.Pushed})
	r.wantListed("ann", "bob", "cyd")
}

// A code that stops rotating loses its set, although its list stays the same:
// nobody is drawn from it any more.
func TestACodeThatStopsRotatingLosesItsSet(t *testing.T) {
	r := newRig(t, roster.Sequenced)
	r.want(push.Done{Reason: reason.Pushed})
	r.store.EditCode("c1", func(c *roster.Code) { c.Family = roster.Native })
	r.want(push.Done{Reason: reason.Pushed})
	if set, ok := r.rotation.Set(r.ref); ok {
		t.Errorf("the set is still there: %v", set)
	}
}

// A code that never rotated is pushed while the rotation sets are away.
func TestANativeCodeNeedsNoRotationSets(t *testing.T) {
	r := newRig(t, roster.Native)
	r.rotation.Before = func(string) error { return errors.New("redis is away") }
	r.want(push.Done{Reason: reason.Pushed})
}
