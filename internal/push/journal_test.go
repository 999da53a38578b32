package push_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// journal keeps what it is told.
type journal struct {
	changes  []push.Change
	refusals []push.Refusal
}

func (j *journal) Changed(_ context.Context, c push.Change)  { j.changes = append(j.changes, c) }
func (j *journal) Refused(_ context.Context, r push.Refusal) { j.refusals = append(j.refusals, r) }

// journaled is a refresh that tells a journal.
func (r *rig) journaled() (told *journal, refresh func() push.Outcome) {
	told = &journal{}
	ports := r.ports()
	ports.Journal = told
	protocol := push.New(ports, r.opts)
	return told, func() push.Outcome { return protocol.Refresh(r.Context(), r.ref, func() {}) }
}

// Each change of a list is told once, with what was there before and why; a
// refresh that changes nothing, or fails, tells of none.
func TestTheJournalIsToldOfEachChange(t *testing.T) {
	r := newRig(t, roster.Native)
	told, refresh := r.journaled()

	refresh()
	refresh() // nothing to push
	r.setPresence("bob", roster.OfflineNow)
	r.clock.Advance(callTimeout)
	refresh()
	r.answer(pushtest.Answer{Err: &push.CallError{ErrCode: 45009}, Lost: true})
	r.setPresence("ann", roster.OfflineNow)
	refresh() // refused

	want := []push.Change{
		{Ref: r.ref, Epoch: 1, After: []string{"ann", "bob", "cyd"}},
		{Ref: r.ref, Epoch: 2, Before: []string{"ann", "bob", "cyd"}, After: []string{"ann", "cyd"}},
	}
	if diff := cmp.Diff(want, told.changes, cmpopts.IgnoreFields(push.Change{}, "At", "PerStaff")); diff != "" {
		t.Error(diff)
	}
	why := map[string]reason.Reason{}
	for _, j := range told.changes[1].PerStaff {
		why[j.Staff] = j.Reason
	}
	if why["bob"] != reason.Offline || told.changes[1].At.Before(told.changes[0].At.Add(callTimeout)) {
		t.Errorf("%v at %v", why, told.changes[1].At)
	}
}

// A push that is recorded while an older call may still land is told of; the
// refresh that confirms it later changes nothing more.
func TestTheJournalIsToldOfAPushThatIsUnsettled(t *testing.T) {
	r := newRig(t, roster.Native)
	told, refresh := r.journaled()
	r.store.PutRecord(r.ref, push.Record{Code: "c1", Epoch: 1, Intents: []push.Intent{{Epoch: 1, Deadline: t0.Add(callTimeout)}}})
	if _, held := refresh().(push.Hold); !held || len(told.changes) != 1 || len(told.changes[0].After) != 3 {
		t.Errorf("told %+v; want the push", told.changes)
	}
}

// In a search for a bad member each list follows from the one before.
func TestTheJournalFollowsASearch(t *testing.T) {
	r := newRig(t, roster.Native)
	told, refresh := r.journaled()
	r.vendor.BadMembers["cyd"] = 60111
	refresh()
	var held []string
	for _, c := range told.changes {
		if diff := cmp.Diff(held, c.Before); diff != "" {
			t.Errorf("push %d replaces another list than the one before: %s", c.Epoch, diff)
		}
		held = c.After
	}
	if diff := cmp.Diff([]string{"ann", "bob"}, held); diff != "" || len(told.changes) < 2 {
		t.Errorf("%d changes, the last leaves %v", len(told.changes), held)
	}
	for _, refusal := range told.refusals {
		if refusal.Class != reason.BadMember {
			t.Errorf("%+v; want a bad member", refusal)
		}
	}
	if len(told.refusals) == 0 {
		t.Error("no refusal was told")
	}
}

// Each push that no record tells of is told with what is known of it.
func TestTheJournalIsToldOfEachRefusal(t *testing.T) {
	down := errors.New("connection refused")
	for name, tt := range map[string]struct {
		upset func(r *rig)
		want  push.Refusal
	}{
		"refused": {
			func(r *rig) {
				r.answer(pushtest.Answer{Err: &push.CallError{Op: "update_contact_way", ErrCode: 45009}, Lost: true})
			},
			push.Refusal{Epoch: 1, Class: reason.Throttled, Detail: "update_contact_way: errcode 45009"},
		},
		"without an answer": {
			func(r *rig) {
				r.answer(pushtest.Answer{Err: &push.CallError{Op: "update_contact_way", HTTPStatus: 502, Unknown: true}})
			},
			push.Refusal{Epoch: 1, Class: reason.Transient, Unknown: true, Detail: "update_contact_way: http 502 (outcome unknown)"},
		},
		"not recorded": {
			func(r *rig) {
				r.store.Before = func(op string) error {
					if op == pushtest.OpCommit {
						return down
					}
					return nil
				}
			},
			push.Refusal{Epoch: 1, Class: reason.StoreDown, Unknown: true, Detail: "WeCom took the list, and the record does not have it"},
		},
		"overtaken by a sibling": {
			func(r *rig) {
				r.vendor.After = func(string) error {
					_, err := r.store.Begin(r.Context(), r.ref, 1, push.Intent{Epoch: 2, Owner: "sibling", Deadline: t0.Add(callTimeout)})
					return err
				}
			},
			push.Refusal{Epoch: 1, Class: reason.Contended, Unknown: true, Detail: "WeCom took the list, and the record does not have it"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, roster.Native)
			told, refresh := r.journaled()
			tt.upset(r)
			refresh()
			tt.want.Ref, tt.want.At = r.ref, t0
			if diff := cmp.Diff([]push.Refusal{tt.want}, told.refusals); diff != "" || len(told.changes) != 0 {
				t.Errorf("told of %d changes and these refusals:\n%s", len(told.changes), diff)
			}
		})
	}
}
