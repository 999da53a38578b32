package shadow_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/shadow"
	"github.com/rollcall-dev/rollcall/internal/shadow/shadowtest"
)

func TestAPairIsComparedOnceItHasSettled(t *testing.T) {
	r := newRig(t)
	r.decides(c1, []string{"ann"}, roster.Judgement{Staff: "bob", Reason: reason.Offline})
	r.at(10 * time.Second)
	r.pushes(c1, "ann", "bob")
	r.at(39 * time.Second)
	r.sweep(shadow.Compared{})
	r.at(40 * time.Second)
	r.sweep(shadow.Compared{Mismatched: 1})
	r.at(time.Hour)
	r.sweep(shadow.Compared{}) // nothing changed
	if diff := cmp.Diff([]string{"mismatch lists/offline"}, r.observed.all()); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// Rollcall decides at once, the other system 29 seconds later: no difference.
func TestAMismatchThatHealsInTimeIsNone(t *testing.T) {
	r := newRig(t)
	r.decides(c1, []string{"ann", "bob"})
	r.pushes(c1, "ann", "bob")
	r.at(time.Minute)
	r.sweep(shadow.Compared{Matched: 1})
	r.decides(c1, []string{"ann"}, roster.Judgement{Staff: "bob", Reason: reason.RemovedToday})
	r.at(time.Minute + 29*time.Second)
	r.sweep(shadow.Compared{})
	r.pushes(c1, "ann")
	r.at(2 * time.Minute)
	r.sweep(shadow.Compared{Matched: 1})
}

// The other system takes longer than the settle time: a difference, and healed
// after.
func TestAPushThatComesTooLateIsAMismatch(t *testing.T) {
	r := newRig(t)
	r.decides(c1, []string{"ann"}, roster.Judgement{Staff: "bob", Reason: reason.RemovedToday})
	r.pushes(c1, "ann", "bob")
	r.at(30 * time.Second)
	r.sweep(shadow.Compared{Mismatched: 1})
	r.at(40 * time.Second)
	r.pushes(c1, "ann")
	r.at(70 * time.Second)
	r.sweep(shadow.Compared{Matched: 1})
	report := r.report()
	if report.Codes.Matching != 1 || report.Codes.Mismatching != 0 || report.Today.Mismatched != 1 || report.Today.Clean {
		t.Errorf("%+v, today %+v", report.Codes, report.Today)
	}
}

// Each report carries its instant: what arrives late does not take the place of
// what was pushed after it, and does not put the comparison off.
func TestReportsOutOfOrder(t *testing.T) {
	r := newRig(t)
	r.decides(c1, []string{"ann"})
	r.at(10 * time.Second)
	r.pushes(c1, "ann")
	r.at(35 * time.Second)
	r.pushed(c1, shadowtest.T0.Add(5*time.Second), shadow.Outdated, "ann", "bob")
	r.pushed(c1, shadowtest.T0.Add(10*time.Second), shadow.Repeated, "ann")
	r.pushed(c1, shadowtest.T0.Add(30*time.Second), shadow.Repeated, "ann")
	r.at(40 * time.Second)
	r.sweep(shadow.Compared{Matched: 1})
}

// A state that comes again after another is a state of its own: both of its
// changes count.
func TestAStateThatComesAgainIsComparedAgain(t *testing.T) {
	r := newRig(t)
	r.pushes(c1, "ann")
	for i, list := range [][]string{{"ann"}, {"bob"}, {"ann"}} {
		r.at(time.Duration(i) * time.Minute)
		r.decides(c1, list)
		r.at(time.Duration(i)*time.Minute + 30*time.Second)
		r.sweep(map[bool]shadow.Compared{true: {Matched: 1}, false: {Mismatched: 1}}[list[0] == "ann"])
	}
}

func TestNobodyLeftIsNoMismatch(t *testing.T) {
	r := newRig(t)
	r.decides(c1, nil)
	r.pushes(c1, "ann")
	r.at(time.Minute)
	r.sweep(shadow.Compared{NoVerdict: 1})
	if report := r.report(); report.Codes.NobodyLeft != 1 || report.Codes.Mismatching != 0 || !report.Today.Clean {
		t.Errorf("%+v, today %+v", report.Codes, report.Today)
	}
}

// One side alone waits for the other, and is not looked at again meanwhile.
func TestOneSideAloneIsNotCompared(t *testing.T) {
	for name, sides := range map[string][2]func(*rig){
		"theirs last": {func(r *rig) { r.decides(c1, []string{"ann"}) }, func(r *rig) { r.pushes(c1, "ann") }},
		"ours last":   {func(r *rig) { r.pushes(c1, "ann") }, func(r *rig) { r.decides(c1, []string{"ann"}) }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			sides[0](r)
			r.at(time.Minute)
			r.sweep(shadow.Compared{Left: 1})
			r.sweep(shadow.Compared{})
			sides[1](r)
			r.at(2 * time.Minute)
			r.sweep(shadow.Compared{Matched: 1})
		})
	}
}

// A code that goes live while its lists differ is no mismatch any more.
func TestACodeThatGoesLiveIsNotCompared(t *testing.T) {
	for name, away := range map[string]func(*rig){
		"live":    func(r *rig) { r.store.PutCode(c1, shadow.Mode{}) },
		"retired": func(r *rig) { r.store.Retire(c1) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.decides(c1, []string{"ann"})
			r.pushes(c1, "bob")
			away(r)
			r.at(time.Minute)
			r.sweep(shadow.Compared{Left: 1})
			r.pushed(c1, r.clock.Now(), shadow.NotInShadow, "ann")
			r.at(time.Hour)
			r.sweep(shadow.Compared{})
			if report := r.report(); report.Codes.Mismatching != 0 || report.Today.Compared != 0 {
				t.Errorf("%+v, today %+v", report.Codes, report.Today)
			}
		})
	}
}

// What the facts do not know any more does not hold the others up.
func TestACodeNobodyKnowsIsLeft(t *testing.T) {
	r := newRig(t)
	gone := push.Ref{Tenant: "globex", Code: "c-9"}
	r.decides(gone, []string{"ann"})
	if _, err := r.store.Reported(t.Context(), gone, shadow.Reported{Members: []string{"ann"}, At: shadowtest.T0}); err != nil {
		t.Fatal(err)
	}
	r.decides(c1, []string{"ann"})
	r.pushes(c1, "ann")
	r.at(time.Minute)
	r.sweep(shadow.Compared{Left: 1, Matched: 1})
}

// Keepers that sweep at once, and one whose look is from before a change, count
// each comparison once.
func TestKeepersCountOnce(t *testing.T) {
	const codes, keepers = 300, 4
	r := newRig(t)
	for i := range codes {
		ref := push.Ref{Tenant: "acme", Code: fmt.Sprintf("many-%d", i)}
		r.store.PutCode(ref, shadow.Mode{Shadow: true})
		r.decides(ref, []string{"ann"})
		r.pushes(ref, "ann", "zoe")
	}
	r.at(time.Minute)
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		total int
	)
	for range keepers {
		keeper := r.newComparer()
		all.Go(func() {
			done, err := keeper.Sweep(t.Context())
			mu.Lock()
			defer mu.Unlock()
			total += done.Mismatched
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	report := r.report()
	if total != codes || len(r.observed.all()) != codes || report.Today.Compared != codes || report.Today.Mismatched != codes {
		t.Errorf("%d compared, %d told, today %+v; want %d of each", total, len(r.observed.all()), report.Today, codes)
	}
}

// lateStore settles after something else has happened.
type lateStore struct {
	shadow.Store
	before func()
}

func (s lateStore) Settle(ctx context.Context, seen shadow.State, c shadow.Comparison) (bool, error) {
	s.before()
	return s.Store.Settle(ctx, seen, c)
}

func TestALookFromBeforeAChangeCountsNothing(t *testing.T) {
	r := newRig(t)
	r.decides(c1, []string{"ann"})
	r.pushes(c1, "bob")
	r.at(time.Minute)
	slow := shadow.NewComparer(shadow.Options{
		Store:     lateStore{r.store, func() { r.pushes(c1, "ann") }},
		Directory: r.store, Observer: r.observed, Now: r.clock.Now,
	})
	if done, err := slow.Sweep(t.Context()); err != nil || done != (shadow.Compared{}) || len(r.observed.all()) > 0 {
		t.Errorf("Sweep = %+v, %v; told %q", done, err, r.observed.all())
	}
	r.at(2 * time.Minute)
	r.sweep(shadow.Compared{Matched: 1})
}

func TestTheSettleTimeIsAnOption(t *testing.T) {
	r := newRig(t)
	r.decides(c1, []string{"ann"})
	r.pushes(c1, "ann")
	patient := shadow.NewComparer(shadow.Options{Store: r.store, Directory: r.store, Observer: r.observed, Settle: time.Hour, Now: r.clock.Now})
	r.at(59 * time.Minute)
	if done, err := patient.Sweep(t.Context()); err != nil || done != (shadow.Compared{}) {
		t.Errorf("Sweep = %+v, %v", done, err)
	}
	r.at(time.Hour)
	if done, err := patient.Sweep(t.Context()); err != nil || done.Matched != 1 {
		t.Errorf("Sweep = %+v, %v", done, err)
	}
}

func TestASweepThatFailsSaysWhere(t *testing.T) {
	r := newRig(t)
	away := errors.New("the store is away")
	r.decides(c1, []string{"ann"})
	r.pushes(c1, "ann")
	r.at(time.Minute)
	calls := 0
	r.store.Fail = func() error {
		if calls++; calls > 1 {
			return away
		}
		return nil
	}
	if _, err := r.comparer.Sweep(t.Context()); !errors.Is(err, away) {
		t.Errorf("Sweep = %v", err)
	}
	r.store.Fail = nil
	r.sweep(shadow.Compared{Matched: 1})
}

// One difference that turns into another stands since the first.
func TestAMismatchThatTurnsIntoAnotherStandsSinceTheFirst(t *testing.T) {
	r := newRig(t)
	r.settles(0, c1, "ann", "ann bob")
	r.settles(time.Hour, c1, "ann cho", "ann bob dan")
	if got := r.report().Examples; len(got) != 1 || !got[0].Since.Equal(shadowtest.T0) || len(got[0].Differences) != 3 {
		t.Errorf("%+v", got)
	}
}

// A code comes back to shadow mode after Rollcall has written it: what was
// reported before says nothing about now, until it is reported again.
func TestReportsOfAnEarlierTermDoNotCount(t *testing.T) {
	r := newRig(t)
	r.settles(0, c1, "ann", "ann bob")
	r.store.PutCode(c1, shadow.Mode{Shadow: true, Term: 2})
	if got := r.report(); got.Codes.Reported != 0 || got.Codes.Mismatching != 0 || got.Codes.Compared != 0 || len(got.NeverReported) != 1 {
		t.Errorf("after the switch: %+v", got.Codes)
	}
	r.at(time.Hour)
	r.decides(c1, []string{"cho"})
	r.at(2 * time.Hour)
	r.sweep(shadow.Compared{Left: 1})
	r.pushed(c1, r.clock.Now(), shadow.Recorded, "ann", "bob")
	r.at(3 * time.Hour)
	r.sweep(shadow.Compared{Mismatched: 1})
	if got := r.report(); got.Codes.Mismatching != 1 || !got.Examples[0].Since.Equal(shadowtest.T0.Add(2*time.Hour)) {
		t.Errorf("%+v, %+v", got.Codes, got.Examples)
	}
}
