package quota_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/quota/quotatest"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

// leave leaves additions behind: noted, and not counted.
func (r *rig) leave(t *testing.T, customers int) {
	t.Helper()
	fails := func(_ context.Context, op string) error {
		if op == quotatest.OpCountCode {
			return errPort
		}
		return nil
	}
	r.store.Before = fails
	for i := range customers {
		if judgement, err := r.Take(t.Context(), added(fmt.Sprint("wm-", i), i)); judgement != quota.Counted || !errors.Is(err, errPort) {
			t.Fatalf("Take = %q, %v", judgement, err)
		}
	}
	r.store.Before = nil
	r.wantOpen(t, customers)
}

func TestRecover(t *testing.T) {
	r := newRig()
	r.leave(t, 40)
	r.clock.advance(overdue) // to the instant: not yet
	if n, err := r.Recover(t.Context()); n != 0 || err != nil {
		t.Errorf("Recover = %d, %v; want none", n, err)
	}
	r.clock.advance(time.Second)
	if n, err := r.Recover(t.Context()); n != 40 || err != nil {
		t.Errorf("Recover = %d, %v; want 40", n, err)
	}
	r.wantCounters(t, 40)
	r.wantOpen(t, 0)
	if n, err := r.Recover(t.Context()); n != 0 || err != nil {
		t.Errorf("Recover of nothing = %d, %v", n, err)
	}
	for i := range 40 { // WeCom is not done with them
		r.take(t, added(fmt.Sprint("wm-", i), i), quota.Repeated)
	}
	r.wantCounters(t, 40)
}

// One addition that cannot be completed does not keep the others back.
func TestRecoverBesideAFailure(t *testing.T) {
	r := newRig()
	r.leave(t, 40)
	r.clock.advance(2 * overdue)
	var failed atomic.Bool
	r.store.Before = func(_ context.Context, op string) error {
		if op == quotatest.OpCountStaff && failed.CompareAndSwap(false, true) {
			return errPort
		}
		return nil
	}
	if n, err := r.Recover(t.Context()); n != 39 || !errors.Is(err, errPort) {
		t.Errorf("Recover = %d, %v; want 39 and %v", n, err, errPort)
	}
	r.wantOpen(t, 1)
	if n, err := r.Recover(t.Context()); n != 1 || err != nil {
		t.Errorf("Recover = %d, %v; want 1", n, err)
	}
	r.wantCounters(t, 40)
}

func TestRecoverWithoutAStore(t *testing.T) {
	r := newRig()
	r.store.Before = func(context.Context, string) error { return errPort }
	if n, err := r.Recover(t.Context()); n != 0 || !errors.Is(err, errPort) {
		t.Errorf("Recover = %d, %v; want %v", n, err, errPort)
	}
	if n, err := r.Forget(t.Context()); n != 0 || !errors.Is(err, errPort) {
		t.Errorf("Forget = %d, %v; want %v", n, err, errPort)
	}
}

func TestForget(t *testing.T) {
	r := newRig()
	for i := range 3 {
		r.take(t, added(fmt.Sprint("wm-", i), i), quota.Counted)
		r.clock.advance(time.Minute)
	}
	before := r.store.Facts(code)
	r.clock.advance(forgetAfter - 3*time.Minute) // the first: to the instant
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{0, 0}, {time.Second, 1}, {time.Second, 0}, {2 * time.Minute, 2}, {time.Hour, 0}} {
		r.clock.advance(step.after)
		if n, err := r.Forget(t.Context()); n != step.want || err != nil {
			t.Errorf("Forget = %d, %v; want %d", n, err, step.want)
		}
	}
	suitetest.WantSame(t, "facts after forgetting", before, r.store.Facts(code))
	wantTraceless(t, r.store)
	for i := range 3 {
		r.take(t, added(fmt.Sprint("wm-", i), i), quota.Repeated)
	}
	suitetest.WantSame(t, "facts after repeats", before, r.store.Facts(code))
}

// What is not done is remembered however old it is.
func TestForgetLeavesWhatIsOpen(t *testing.T) {
	r := newRig()
	r.leave(t, 1)
	r.store.After = func(_ context.Context, op string) error {
		if op == quotatest.OpCountStaff { // counted, and nobody knows
			return errPort
		}
		return nil
	}
	if _, err := r.Take(t.Context(), added("wm-0", 0)); !errors.Is(err, errPort) {
		t.Fatalf("Take = %v", err)
	}
	r.store.After = nil
	r.clock.advance(10 * forgetAfter)
	if n, err := r.Forget(t.Context()); n != 0 || err != nil {
		t.Errorf("Forget = %d, %v; want none", n, err)
	}
	r.recover(t)
	r.wantCounters(t, 1)
	if n, err := r.Forget(t.Context()); n != 0 || err != nil {
		t.Errorf("Forget of what was done just now = %d, %v; want none", n, err)
	}
}

// A process that is cut off anywhere in Forget leaves nothing that the next one
// does not forget, and no count changes.
func TestForgetCutOffAtAnyStep(t *testing.T) {
	for step := 0; ; step++ {
		r := newRig()
		for i := range 3 {
			r.take(t, added(fmt.Sprint("wm-", i), i), quota.Counted)
		}
		r.clock.advance(2 * forgetAfter)
		process, ctx := fanouttest.NewProcess(t.Context(), fanouttest.At(step))
		_, err := r.Forget(ctx)
		process.End()
		if process.CutOff() == "" {
			if step < 8 {
				t.Errorf("Forget has %d steps, want at least 8", step)
			}
			return
		}
		if !errors.Is(err, fanouttest.ErrCutOff) {
			t.Errorf("Forget = %v though it was cut off in %s", err, process.CutOff())
		}
		for i := range 3 { // the counters may have forgotten, and the contacts not
			r.take(t, added(fmt.Sprint("wm-", i), i), quota.Repeated)
		}
		r.wantForgotten(t)
		r.wantCounters(t, 3)
	}
}

// wantTraceless fails unless neither counters nor contacts remember an
// addition.
func wantTraceless(t *testing.T, store *quotatest.Store) {
	t.Helper()
	if n := store.Remembered(); n != 0 {
		t.Errorf("the counters remember %d additions", n)
	}
	for pair, contact := range store.Contacts() {
		if len(contact.Additions) > 0 {
			t.Errorf("the contact %v remembers %+v", pair, contact.Additions)
		}
	}
}
