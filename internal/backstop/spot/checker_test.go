package spot_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/backstop/spot"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

func TestACodeThatAgreesIsCountedAndNothingElse(t *testing.T) {
	r := newRig(t)
	r.check(spot.Repair, spot.Agrees)
	r.wantTally(spot.Tally{Checked: 1})
	if d := r.stored(); d.Version != 0 {
		t.Errorf("a difference is stored: %+v", d)
	}
}

// What somebody did at WeCom, and what it is called.
func TestADifferenceHasItsCause(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*rig)
		cause  reason.Reason
		detail string
	}{
		"a member was added": {
			func(r *rig) { r.way.Users = []string{"boss", "li.na", "wang"} }, reason.ForeignEdit,
			"not Rollcall: only WeCom: boss",
		},
		"the list was replaced": {
			func(r *rig) { r.way.Users = []string{"a", "b", "c", "d", "wang"} }, reason.ForeignEdit,
			"not Rollcall: only WeCom: a, b, c and 1 more; only ours: li.na",
		},
		"a department was added": {
			func(r *rig) { r.way.Departments = []int64{4} }, reason.ForeignEdit, "not Rollcall: departments: 1",
		},
		"the list and the remark": {
			func(r *rig) { r.way.Users, r.way.Remark = []string{"wang"}, "mine" }, reason.ForeignEdit,
			`not Rollcall: only ours: li.na; remark "mine", ours "fair"`,
		},
		"the remark": {
			func(r *rig) { r.way.Remark = "mine" }, reason.AttributesDiffer, `not Rollcall: remark "mine", ours "fair"`,
		},
		"the state": {
			func(r *rig) { r.way.State = "" }, reason.AttributesDiffer, `not Rollcall: state "", ours "s1"`,
		},
		"the verification": {
			func(r *rig) { r.way.SkipVerify = false }, reason.AttributesDiffer, "not Rollcall: skip_verify false, ours true",
		},
		"the contact way was deleted": {
			func(r *rig) { r.gone = true }, reason.Gone,
			"not Rollcall: WeCom has no such contact way any more; ours lists 2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			test.change(r)
			pushedAt := r.record.Committed.At
			got := r.check(spot.Report, spot.Differs)
			want := spot.Difference{
				Ref: fair, Version: 1, Cause: test.cause, State: spot.Open, SinceAtLeast: pushedAt,
				Ours:   spot.Way{Users: []string{"li.na", "wang"}, Remark: "fair", State: "s1", SkipVerify: true},
				Theirs: r.way, SeenAt: r.clock.Now(), LastSeen: r.clock.Now(), Times: 1, VendorCalls: 1,
			}
			if test.cause == reason.Gone {
				want.Theirs = spot.Way{}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, r.stored()); diff != "" {
				t.Errorf("stored (-want +got):\n%s", diff)
			}
			if got := r.stored().Detail(); got != test.detail {
				t.Errorf("detail %q, want %q", got, test.detail)
			}
			r.wantTally(spot.Tally{Checked: 1, Differ: 1})
			if _, marked := r.marked(); marked || r.record.Committed.Hash == "" {
				t.Error("the policy is to report, and the code is being repaired")
			}
		})
	}
}

func TestADetailIsBounded(t *testing.T) {
	d := spot.Difference{
		Cause:  reason.ForeignEdit,
		Ours:   spot.Way{Remark: strings.Repeat("甲", 500)},
		Theirs: spot.Way{Remark: strings.Repeat("x", 500), State: strings.Repeat("y", 500)},
	}
	for i := range 100 {
		d.Ours.Users = append(d.Ours.Users, strings.Repeat(string(rune('a'+i)), 64))
		d.Theirs.Users = append(d.Theirs.Users, strings.Repeat(string(rune('A'+i)), 64)+"'")
	}
	if n := len([]rune(d.Detail())); n > 600 {
		t.Errorf("%d characters", n)
	}
}

// While the code is on its way to another list, what WeCom holds says nothing.
func TestWhatIsUnsettledGetsNoVerdict(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*rig, *spot.Sample)
		looks  int
	}{
		"never pushed":              {func(_ *rig, s *spot.Sample) { s.Record = push.Record{} }, 0},
		"no contact way":            {func(_ *rig, s *spot.Sample) { s.ConfigID = "" }, 0},
		"a call without an outcome": {func(_ *rig, s *spot.Sample) { s.Record.Intents = []push.Intent{{Epoch: 1}} }, 0},
		"begun and not committed":   {func(_ *rig, s *spot.Sample) { s.Record.Epoch++ }, 0},
		"the list is doubted":       {func(_ *rig, s *spot.Sample) { s.Record.Committed.Hash = "" }, 0},
		"edited and not pushed yet": {func(_ *rig, s *spot.Sample) { s.Revision++ }, 0},
		"pushed a moment ago":       {func(r *rig, s *spot.Sample) { s.Record.Committed.At = r.clock.Now().Add(1 - settle) }, 0},
		"a push begins meanwhile":   {func(r *rig, _ *spot.Sample) { r.meanwhile = func() { r.record.Epoch++ } }, 1},
		"a whole push meanwhile":    {func(r *rig, _ *spot.Sample) { r.meanwhile = r.push }, 1},
		"an intent opens meanwhile": {func(r *rig, _ *spot.Sample) { r.meanwhile = func() { r.record.Intents = []push.Intent{{}} } }, 1},
		"a doubt comes meanwhile":   {func(r *rig, _ *spot.Sample) { r.meanwhile = func() { r.record.Committed.Hash = "" } }, 1},
		"the record goes meanwhile": {func(r *rig, _ *spot.Sample) { r.meanwhile = func() { r.record = push.Record{} } }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.way.Users = []string{"boss"}
			s := r.sample()
			test.change(r, &s)
			r.checkOf(s, spot.Repair, spot.Unsettled)
			r.wantTally(spot.Tally{Unsettled: 1})
			if r.looks != test.looks || r.stored().Version != 0 {
				t.Errorf("%d looks, want %d; stored %+v", r.looks, test.looks, r.stored())
			}
		})
	}
}

func TestWithoutSpareBudgetNothingIsAsked(t *testing.T) {
	r := newRig(t)
	r.idle = false
	r.check(spot.Repair, spot.Skipped)
	r.wantTally(spot.Tally{Skipped: 1})
	if r.looks != 0 {
		t.Errorf("%d looks without budget", r.looks)
	}
}

// A look without an answer is neither an agreement nor a difference.
func TestALookThatFailsIsSkipped(t *testing.T) {
	r := newRig(t)
	r.failure = &push.CallError{Class: reason.Transient, Err: errors.New("HTTP 503")}
	got, err := r.checker(spot.Repair).Check(t.Context(), r.sample())
	if _, ok := errors.AsType[*push.CallError](err); !ok || got.Outcome != spot.Skipped {
		t.Errorf("Check = %v, %v; want the call's error", got.Outcome, err)
	}
	r.wantTally(spot.Tally{Skipped: 1})
}

func TestARepairIsPushedAndEnds(t *testing.T) {
	r := newRig(t)
	r.way.Users = []string{"boss"}
	d := r.check(spot.Repair, spot.Differs)
	r.wantState(spot.Repairing)
	mark, _ := r.marked()
	if diff := cmp.Diff([]reason.Reason{reason.ForeignEdit}, mark.Reasons); diff != "" || mark.Detail != d.Detail() || mark.Due.After(r.clock.Now()) {
		t.Errorf("marked %+v", mark)
	}
	r.release()
	r.clock.Advance(settle)
	r.check(spot.Repair, spot.Agrees)
	r.wantState(spot.Repaired)
	if got := r.stored(); got.VendorCalls != 2 || !got.AgreedAt.Equal(r.clock.Now()) {
		t.Errorf("stored %+v; want two looks, and when it agreed", got)
	}
	r.wantTally(spot.Tally{Checked: 2, Differ: 1})
}

func TestADifferenceThatIsLeftAloneMayVanish(t *testing.T) {
	r := newRig(t)
	ours := r.way
	r.way.Users = []string{"boss"}
	r.check(spot.Report, spot.Differs)
	r.clock.Advance(time.Hour)
	r.check(spot.Report, spot.Differs)
	if d := r.stored(); d.Times != 2 || !d.SeenAt.Equal(start.Add(time.Hour)) || !d.LastSeen.Equal(r.clock.Now()) {
		t.Errorf("after two sightings: %+v", d)
	}
	r.way = ours
	r.check(spot.Report, spot.Agrees)
	r.wantState(spot.Vanished)
	agreed := r.clock.Now()

	r.clock.Advance(time.Hour)
	r.way.Users = []string{"boss"}
	r.check(spot.Report, spot.Differs)
	if d := r.stored(); d.State != spot.Open || d.Times != 1 || d.VendorCalls != 1 || !d.SinceAtLeast.Equal(agreed) {
		t.Errorf("a new one after an agreement at %v: %+v", agreed, d)
	}
}

// Ours was pushed, and changed again: the other side goes on writing.
func TestADifferenceOutlivesAPush(t *testing.T) {
	r := newRig(t)
	r.way.Users = []string{"boss"}
	r.check(spot.Repair, spot.Differs)
	r.release()
	pushed := r.record.Committed.At
	r.way.Users = []string{"boss"}
	r.clock.Advance(time.Hour)
	r.check(spot.Repair, spot.Differs)
	if d := r.stored(); d.Times != 2 || !d.SinceAtLeast.Equal(pushed) || d.State != spot.Repairing {
		t.Errorf("%+v; want a second sighting, since %v", d, pushed)
	}
}

func TestAPushThatBeganAfterTheVerdictIsLeftToItself(t *testing.T) {
	r := newRig(t)
	r.way.Users = []string{"boss"}
	r.step = func(op string, done bool) {
		if op == "mark" && done {
			r.step = func(string, bool) {}
			r.push()
		}
	}
	r.check(spot.Repair, spot.Differs)
	mark, _ := r.marked()
	if r.record.Committed.Hash == "" || mark.Count != 1 {
		t.Errorf("the newer list is doubted, or marked %d times", mark.Count)
	}
	r.clock.Advance(grace)
	r.release()
	r.check(spot.Repair, spot.Agrees)
}

// A check dies before or after any of its operations. What is left behind is
// found: a doubt is never without a mark, and the next check and the keeper
// bring the code to its list.
func TestADeathAnywhereDoesNoHarm(t *testing.T) {
	steps := 0
	r := newRig(t)
	r.way.Users = []string{"boss"}
	r.step = func(string, bool) { steps++ }
	r.check(spot.Repair, spot.Differs)
	if steps != 2*9 {
		t.Fatalf("%d steps; want spare, look, record, add, get, put, mark, doubt, mark", steps/2)
	}
	for dies := range steps {
		r := newRig(t)
		r.way.Users = []string{"boss"}
		last := r.dieAt(dies)
		_, marked := r.marked()
		if r.record.Committed.Hash == "" && !marked {
			t.Errorf("death at %s: the list is doubted and nobody comes to push it", last)
		}
		r.clock.Advance(grace)
		r.release()
		if r.record.Committed.Hash == "" {
			t.Errorf("death at %s: the doubt is still there", last)
		}
		r.clock.Advance(grace)
		if _, err := r.checker(spot.Repair).Check(t.Context(), r.sample()); err != nil {
			t.Fatal(err)
		}
		r.release()
		r.clock.Advance(grace)
		r.check(spot.Repair, spot.Agrees)
		if d := r.stored(); d.Version > 0 && d.State != spot.Repaired {
			t.Errorf("death at %s: the difference is %s in the end", last, d.State)
		}
	}
}

// dieAt runs a check that ends at its n-th step, and says where that was.
func (r *rig) dieAt(n int) (last string) {
	type death struct{}
	r.step = func(op string, done bool) {
		if n--; n < 0 {
			last = op
			if done {
				last = "the end of " + op
			}
			panic(death{})
		}
	}
	defer func() {
		r.step = func(string, bool) {}
		if p := recover(); p != nil && p != (death{}) {
			panic(p)
		}
	}()
	_, _ = r.checker(spot.Repair).Check(r.t.Context(), r.sample())
	return last
}

// Two keepers look at a code around a change of the lease; both are counted.
func TestTwoAtOnceLoseNoSighting(t *testing.T) {
	r := newRig(t)
	r.way.Users = []string{"boss"}
	r.step = func(op string, done bool) {
		if op == "get" && done {
			r.step = func(string, bool) {}
			r.check(spot.Report, spot.Differs)
		}
	}
	r.check(spot.Report, spot.Differs)
	if d := r.stored(); d.Times != 2 || d.VendorCalls != 2 {
		t.Errorf("%+v; want two sightings", d)
	}
}

func TestAWriteThatIsAlwaysBeatenIsAnError(t *testing.T) {
	r := newRig(t)
	r.way.Users = []string{"boss"}
	r.step = func(op string, done bool) {
		if op == "get" && done {
			d := r.stored()
			d.Ref = fair
			if ok, err := r.store.Put(t.Context(), d); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
	}
	if _, err := r.checker(spot.Report).Check(t.Context(), r.sample()); err == nil {
		t.Error("no error, and the difference is not kept")
	}
}

func TestAStoreThatFailsIsAnError(t *testing.T) {
	broken := errors.New("no primary")
	for _, op := range []string{"get", "put", "add"} {
		r := newRig(t)
		r.way.Users = []string{"boss"}
		r.store.Before = func(o string) error {
			if o == op {
				return broken
			}
			return nil
		}
		if _, err := r.checker(spot.Repair).Check(t.Context(), r.sample()); !errors.Is(err, broken) {
			t.Errorf("%s fails: Check = %v", op, err)
		}
		if r.record.Committed.Hash == "" {
			t.Errorf("%s fails: a repair was begun that nothing tells of", op)
		}
	}
}
