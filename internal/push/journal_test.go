package push_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// journal keeps what it is told.
type journal []push.Change

func (j *journal) Changed(_ context.Context, c push.Change) { *j = append(*j, c) }

// Each change of a list is told once, with what was there before and why; a
// refresh that changes nothing, or fails, tells nothing.
func TestTheJournalIsToldOfEachChange(t *testing.T) {
	r := newRig(t, roster.Native)
	var told journal
	ports := r.ports()
	ports.Journal = &told
	protocol := push.New(ports, r.opts)
	refresh := func() push.Outcome { return protocol.Refresh(t.Context(), r.ref, func() {}) }

	refresh()
	refresh() // nothing to push
	r.setPresence("bob", roster.OfflineNow)
	r.clock.Advance(callTimeout)
	refresh()
	r.answer(pushtest.Answer{Err: &push.CallError{ErrCode: 45009}, Lost: true})
	r.setPresence("ann", roster.OfflineNow)
	refresh() // refused

	want := journal{
		{Ref: r.ref, Epoch: 1, After: []string{"ann", "bob", "cyd"}},
		{Ref: r.ref, Epoch: 2, Before: []string{"ann", "bob", "cyd"}, After: []string{"ann", "cyd"}},
	}
	if diff := cmp.Diff(want, told, cmpopts.IgnoreFields(push.Change{}, "At", "PerStaff")); diff != "" {
		t.Error(diff)
	}
	why := map[string]reason.Reason{}
	for _, j := range told[1].PerStaff {
		why[j.Staff] = j.Reason
	}
	if why["bob"] != reason.Offline || told[1].At.Before(told[0].At.Add(callTimeout)) {
		t.Errorf("%v at %v", why, told[1].At)
	}
}
