package quota_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

// A process that is cut off at any step of a Take leaves something that WeCom's
// next attempt completes, or the keeper does when there is none.
func TestTakeCutOffAtAnyStep(t *testing.T) {
	completions := map[string]func(t *testing.T, r *rig){
		"then repeated": func(t *testing.T, r *rig) {
			if _, err := r.Take(t.Context(), added("wm-2", 2)); err != nil {
				t.Fatalf("the repeat: %v", err)
			}
		},
		"then recovered": func(t *testing.T, r *rig) {
			if noted := r.store.Contacts()[added("wm-2", 2).Pair].Version > 0; !noted {
				r.take(t, added("wm-2", 2), quota.Counted) // nobody knows of it but WeCom
			}
			r.clock.advance(2 * overdue)
			r.recover(t)
		},
		"by an end of the contact": func(t *testing.T, r *rig) {
			end := quota.Event{Pair: added("wm-2", 2).Pair, Change: quota.Deleted, At: noon.Add(time.Minute)}
			if r.store.Contacts()[end.Pair].Version > 0 {
				r.take(t, end, quota.Ended)
			}
			if _, err := r.Take(t.Context(), added("wm-2", 2)); err != nil {
				t.Fatalf("the repeat: %v", err)
			}
		},
	}
	for name, complete := range completions {
		for staffFirst := range 2 {
			var steps int
			for step := 0; ; step++ {
				r := newRig()
				r.store.StaffFirst = func() bool { return staffFirst == 1 }
				r.take(t, added("wm-1", 1), quota.Counted)
				process, ctx := fanouttest.NewProcess(t.Context(), fanouttest.At(step))
				_, err := r.Take(ctx, added("wm-2", 2))
				process.End()
				if process.CutOff() == "" {
					steps = step
					break
				}
				if !errors.Is(err, fanouttest.ErrCutOff) {
					t.Fatalf("Take = %v though it was cut off in %s", err, process.CutOff())
				}
				t.Run(fmt.Sprintf("at step %d, %s, %s", step, process.CutOff(), name), func(t *testing.T) {
					complete(t, r)
					r.wantSecond(t)
					r.wantForgotten(t)
				})
			}
			if steps < 26 {
				t.Errorf("a Take has %d steps, want at least 26", steps)
			}
		}
	}
}

// recover recovers what is overdue and fails unless that works.
func (r *rig) recover(t *testing.T) {
	t.Helper()
	if _, err := r.Recover(t.Context()); err != nil {
		t.Fatalf("Recover: %v", err)
	}
}

// wantForgotten forgets what is old enough and fails unless nothing is left of
// it but what it counted.
func (r *rig) wantForgotten(t *testing.T) {
	t.Helper()
	before := r.store.Facts(code)
	r.clock.advance(2 * forgetAfter)
	for range 2 {
		if _, err := r.Forget(t.Context()); err != nil {
			t.Fatalf("Forget: %v", err)
		}
	}
	suitetest.WantSame(t, "facts after forgetting", before, r.store.Facts(code))
	wantTraceless(t, r.store)
}
