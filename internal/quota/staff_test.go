package quota_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/quota/quotatest"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

func change(standing quota.Standing, second int) quota.StaffChange {
	return quota.StaffChange{
		Tenant: "acme", Staff: "li.na", Standing: standing, At: noon.Add(time.Duration(second) * time.Second),
	}
}

func TestChange(t *testing.T) {
	renamed := change("", 0)
	renamed.Renamed = "lina"
	departments := change("", 0)
	departments.Departments = []int64{1, 2}
	tests := map[string]struct {
		changes  []quota.StaffChange
		why      reason.Reason // of the last
		tells    bool
		resigned bool
		out      bool
	}{
		"a resignation":         {[]quota.StaffChange{change(quota.Gone, 0)}, reason.Resigned, true, true, false},
		"a rename":              {[]quota.StaffChange{renamed}, reason.Resigned, true, true, false},
		"a disabled account":    {[]quota.StaffChange{change(quota.Inactive, 0)}, reason.Quarantined, true, false, true},
		"an account that is on": {[]quota.StaffChange{change(quota.Active, 0)}, reason.StaffChanged, false, false, false},
		"other departments":     {[]quota.StaffChange{departments}, reason.StaffChanged, false, false, false},
		"active again":          {[]quota.StaffChange{change(quota.Inactive, 0), change(quota.Active, 1)}, reason.StaffChanged, false, false, false},
		"back in the company":   {[]quota.StaffChange{change(quota.Gone, 0), change(quota.Active, 1)}, reason.StaffChanged, false, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig()
			for _, change := range test.changes {
				if got, err := r.Change(t.Context(), change); got != quota.Applied || err != nil {
					t.Fatalf("Change = %q, %v", got, err)
				}
			}
			last := test.changes[len(test.changes)-1]
			by := fmt.Sprintf("%s/li.na/%d", test.why, last.At.Unix())
			suitetest.WantSame(t, "the last fan-out", fanout.Request{
				Scope: fanout.Scope{Tenant: "acme", Staff: "li.na"}, Why: test.why.String(), At: r.clock.Now(), Key: by,
			}, r.out.requests[by])
			if len(r.out.requests) != len(test.changes) {
				t.Errorf("fan-outs %v, want one a change", r.out.requested())
			}
			var notice notify.Notice
			if test.tells {
				notice = notify.Notice{Key: by, Tenant: "acme", Kind: notify.Kind(test.why), Staff: "li.na", At: last.At}
			}
			suitetest.WantSame(t, "the notice", notice, r.out.notices[told{"acme", by}])
			if n := r.out.fell[test.why]; n != 1 {
				t.Errorf("told of %d fan-outs for %s", n, test.why)
			}
			staff := r.store.Facts(code).Staff["li.na"]
			if staff.Resigned != test.resigned || staff.QuarantinedUntil.IsZero() == test.out {
				t.Errorf("the member is %+v; want resigned %v, out %v", staff, test.resigned, test.out)
			}
		})
	}
}

// Nothing follows from what a later change has overtaken: nobody is told of a
// resignation that was taken back.
func TestChangeThatIsOutdated(t *testing.T) {
	r := newRig()
	if got, err := r.Change(t.Context(), change(quota.Active, 1)); got != quota.Applied || err != nil {
		t.Fatalf("Change = %q, %v", got, err)
	}
	if got, err := r.Change(t.Context(), change(quota.Gone, 0)); got != quota.Outdated || err != nil {
		t.Errorf("Change = %q, %v; want %q", got, err, quota.Outdated)
	}
	if n := len(r.out.requested()); n != 1 {
		t.Errorf("%d fan-outs, want that of the later change", n)
	}
	suitetest.WantSame(t, "notices", []string{}, r.out.filed())
}

func TestChangeOfSomebodyUnknown(t *testing.T) {
	r := newRig()
	unknown := change(quota.Gone, 0)
	unknown.Staff = "lina"
	if got, err := r.Change(t.Context(), unknown); got != quota.Unlisted || err != nil {
		t.Errorf("Change = %q, %v; want %q", got, err, quota.Unlisted)
	}
	suitetest.WantSame(t, "fan-outs", []string{}, r.out.requested())
	suitetest.WantSame(t, "notices", []string{}, r.out.filed())
}

func TestChangeOfPortsThatFail(t *testing.T) {
	for _, op := range []string{quotatest.OpApply, opRequest, opFile} {
		t.Run(op, func(t *testing.T) {
			r := newRig()
			fail := func(_ context.Context, now string) error {
				if now == op {
					return errPort
				}
				return nil
			}
			r.store.Before, r.out.Before = fail, fail
			if got, err := r.Change(t.Context(), change(quota.Gone, 0)); got != "" || !errors.Is(err, errPort) {
				t.Errorf("Change = %q, %v; want %v", got, err, errPort)
			}
		})
	}
}

// A change that was cut off at any step is complete once it is repeated.
func TestChangeCutOffAtAnyStep(t *testing.T) {
	again := change(quota.Active, 1)
	renamed := change("", 1)
	renamed.Renamed = "lina"
	tests := map[string]struct {
		change quota.StaffChange
		steps  int
		check  func(t *testing.T, r *rig)
	}{
		"active again": {again, 6, func(t *testing.T, r *rig) {
			if staff := r.store.Facts(code).Staff["li.na"]; !staff.QuarantinedUntil.IsZero() {
				t.Errorf("still out: %+v", staff)
			}
			suitetest.WantSame(t, "fan-outs", 2, len(r.out.requested()))
			suitetest.WantSame(t, "notices", 1, len(r.out.filed()))
		}},
		"renamed": {renamed, 8, func(t *testing.T, r *rig) {
			staff := r.store.Facts(code).Staff
			if !staff["li.na"].Resigned || staff["lina"].ID != "lina" || staff["lina"].Resigned {
				t.Errorf("staff %+v", staff)
			}
			suitetest.WantSame(t, "fan-outs", 2, len(r.out.requested()))
			suitetest.WantSame(t, "notices", 2, len(r.out.filed()))
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for step := 0; ; step++ {
				r := newRig()
				if _, err := r.Change(t.Context(), change(quota.Inactive, 0)); err != nil {
					t.Fatal(err)
				}
				process, ctx := fanouttest.NewProcess(t.Context(), fanouttest.At(step))
				_, err := r.Change(ctx, test.change)
				process.End()
				if process.CutOff() == "" {
					if step < test.steps {
						t.Errorf("a change has %d steps, want at least %d", step, test.steps)
					}
					return
				}
				if !errors.Is(err, fanouttest.ErrCutOff) {
					t.Errorf("Change = %v though it was cut off in %s", err, process.CutOff())
				}
				if _, err := r.Change(t.Context(), test.change); err != nil {
					t.Fatalf("the repeat: %v", err)
				}
				test.check(t, r)
			}
		})
	}
}
