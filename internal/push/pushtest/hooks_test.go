package pushtest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

var (
	ref      = push.Ref{Tenant: "acme", Code: "c"}
	errFault = errors.New("fault")
)

// fakes is one of each, seeded with a code.
type fakes struct {
	clock    *pushtest.Clock
	store    *pushtest.Store
	dirty    *pushtest.Dirty
	rotation *pushtest.Rotation
	budget   *pushtest.Budget
	vendor   *pushtest.Vendor
}

func newFakes() *fakes {
	clock := pushtest.NewClock(start)
	f := &fakes{
		clock: clock, store: pushtest.NewStore(), dirty: pushtest.NewDirty(clock),
		rotation: pushtest.NewRotation(), budget: pushtest.NewBudget(clock), vendor: pushtest.NewVendor(clock),
	}
	f.store.PutTenant(roster.Tenant{ID: "acme"})
	f.store.PutCode(roster.Code{ID: "c", Tenant: "acme", Members: []roster.Member{{Staff: "li"}}})
	f.store.PutStaff("acme", roster.Staff{ID: "li"})
	f.vendor.AddWay("cfg", "a")
	return f
}

func (f *fakes) hooks() []*pushtest.Hooks {
	return []*pushtest.Hooks{&f.store.Hooks, &f.dirty.Hooks, &f.rotation.Hooks, &f.budget.Hooks, &f.vendor.Hooks}
}

// operations are all that have hooks: how to run one, and whether it took
// effect.
var operations = map[string]struct {
	run  func(ctx context.Context, f *fakes) error
	done func(f *fakes) bool
}{
	pushtest.OpBegin: {
		func(ctx context.Context, f *fakes) error {
			_, err := f.store.Begin(ctx, ref, 0, push.Intent{Epoch: 1})
			return err
		},
		func(f *fakes) bool { return f.store.Record(ref).Epoch == 1 },
	},
	pushtest.OpDrop: {
		func(ctx context.Context, f *fakes) error {
			f.store.PutRecord(ref, push.Record{Epoch: 1, Intents: []push.Intent{{Epoch: 1}}})
			return f.store.Drop(ctx, ref, 1)
		},
		func(f *fakes) bool { return len(f.store.Record(ref).Intents) == 0 },
	},
	pushtest.OpCommit: {
		func(ctx context.Context, f *fakes) error {
			_, err := f.store.Commit(ctx, ref, push.Committed{Hash: "h"}, nil, time.Time{})
			return err
		},
		func(f *fakes) bool { return f.store.Record(ref).Committed.Hash == "h" },
	},
	pushtest.OpSetFailure: {
		func(ctx context.Context, f *fakes) error {
			return f.store.SetFailure(ctx, ref, push.Failure{Streak: 1})
		},
		func(f *fakes) bool { return f.store.Record(ref).Failure.Streak == 1 },
	},
	pushtest.OpAdvanceRound: {
		func(ctx context.Context, f *fakes) error {
			_, err := f.store.AdvanceRound(ctx, ref, 0)
			return err
		},
		func(f *fakes) bool { return f.store.Peek(ref).Counters.Round == 1 },
	},
	pushtest.OpMarkDeleted: {
		func(ctx context.Context, f *fakes) error { return f.store.MarkDeleted(ctx, ref, start) },
		func(f *fakes) bool { return f.store.Peek(ref).Code.Deleted },
	},
	pushtest.OpMark: {
		func(ctx context.Context, f *fakes) error {
			return f.dirty.Mark(ctx, push.Mark{Ref: ref, Reason: reason.Overflow})
		},
		func(f *fakes) bool { _, ok, _ := f.dirty.Get(context.Background(), ref); return ok },
	},
	pushtest.OpRotationReplace: {
		func(ctx context.Context, f *fakes) error {
			_, _, err := f.rotation.Replace(ctx, ref, 0, push.Set{})
			return err
		},
		func(f *fakes) bool { _, ok := f.rotation.Set(ref); return ok },
	},
	pushtest.OpGiveBack: {
		func(ctx context.Context, f *fakes) error { return f.budget.GiveBack(ctx, ref) },
		func(f *fakes) bool { return len(f.budget.GivenBack()) == 1 },
	},
	pushtest.OpAdmit: {
		func(ctx context.Context, f *fakes) error {
			_, err := f.budget.Admit(ctx, push.Ask{Ref: ref})
			return err
		},
		func(f *fakes) bool { return len(f.budget.Asks()) == 1 },
	},
	pushtest.OpThrottled: {
		func(ctx context.Context, f *fakes) error {
			_, err := f.budget.Throttled(ctx, "acme", 45009)
			return err
		},
		func(f *fakes) bool { return len(f.budget.Throttles()) == 1 },
	},
	pushtest.OpUpdate: {
		func(ctx context.Context, f *fakes) error {
			return f.vendor.Update(ctx, push.Call{ConfigID: "cfg", Members: []string{"b"}, Deadline: start})
		},
		func(f *fakes) bool { way, _ := f.vendor.Way("cfg"); return way.Members[0] == "b" },
	},
}

// Before keeps an operation from happening, After hides that it happened; the
// caller gets the fault either way, and Step has run first.
func TestFaults(t *testing.T) {
	for op, operation := range operations {
		for when, happens := range map[string]bool{"before": false, "after": true} {
			t.Run(op+" "+when, func(t *testing.T) {
				f := newFakes()
				fault := func(at string) error {
					if at == op {
						return errFault
					}
					return nil
				}
				var steps []string
				for _, h := range f.hooks() {
					h.Step = func(at string) { steps = append(steps, at) }
					if happens {
						h.After = fault
					} else {
						h.Before = fault
					}
				}
				if err := operation.run(t.Context(), f); !errors.Is(err, errFault) {
					t.Errorf("= %v, want the fault", err)
				}
				if done := operation.done(f); done != happens {
					t.Errorf("it happened: %v, want %v", done, happens)
				}
				if !slices.Contains(steps, op) {
					t.Errorf("steps %v lack the operation", steps)
				}
			})
		}
	}
}

// A write of somebody else may fall between any two reads of a Load, and a hook
// may itself use the fake.
func TestLoadIsTornWhereTheHookTearsIt(t *testing.T) {
	f := newFakes()
	f.store.Order = func(reads []string) { slices.Sort(reads) }
	var steps []string
	f.store.Step = func(op string) {
		steps = append(steps, op)
		if op == pushtest.OpReadStaff {
			f.store.EditCode("c", func(c *roster.Code) { c.Remark = "edited" })
			f.store.EditStaff("acme", "li", func(s *roster.Staff) { s.Presence = roster.OfflineNow })
		}
	}
	facts, _, err := f.store.Load(t.Context(), ref)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	if facts.Code.Remark != "" || facts.Staff["li"].Presence != roster.OfflineNow {
		t.Errorf("code %+v, staff %+v; want the code before the edit and the staff after it", facts.Code, facts.Staff)
	}
	want := []string{pushtest.OpReadCode, pushtest.OpReadCounters, pushtest.OpReadRecord, pushtest.OpReadTenant, pushtest.OpReadStaff}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if after := f.store.Peek(ref); after.Code.Remark != "edited" || after.Code.Revision != 1 {
		t.Errorf("after the edit: %+v", after.Code)
	}
}

func TestBudgetGrantsUnlessToldOtherwise(t *testing.T) {
	f := newFakes()
	got, err := f.budget.Admit(t.Context(), push.Ask{Ref: ref, Removes: true})
	if want := (push.Admission{Granted: true, Expires: start.Add(pushtest.GrantLasts)}); got != want || err != nil {
		t.Errorf("Admit = %+v, %v; want %+v", got, err, want)
	}
	booked := push.Admission{At: start.Add(time.Minute), Booked: true, Cause: reason.Throttled}
	f.budget.Answer = func(push.Ask) (push.Admission, error) { return booked, nil }
	if got, err := f.budget.Admit(t.Context(), push.Ask{Ref: ref}); got != booked || err != nil {
		t.Errorf("Admit = %+v, %v; want %+v", got, err, booked)
	}
	f.budget.Answer = func(push.Ask) (push.Admission, error) { return booked, errFault }
	if got, err := f.budget.Admit(t.Context(), push.Ask{Ref: ref}); got != (push.Admission{}) || !errors.Is(err, errFault) {
		t.Errorf("Admit = %+v, %v; want the fault alone", got, err)
	}
	until, err := f.budget.Throttled(t.Context(), "acme", 45033)
	if want := start.Add(pushtest.BlockLasts); !until.Equal(want) || err != nil {
		t.Errorf("Throttled = %v, %v; want %v", until, err, want)
	}
	if diff := cmp.Diff([]pushtest.Throttle{{Tenant: "acme", ErrCode: 45033}}, f.budget.Throttles()); diff != "" {
		t.Errorf("throttles (-want +got):\n%s", diff)
	}
}
