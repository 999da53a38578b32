package backstop_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/backstop"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

func TestACodeWhoseTimeHasComeIsPublishedOnce(t *testing.T) {
	r := newClockRig(t)
	r.expect("acme", "came", t0.Add(-time.Minute))
	r.expect("acme", "comes now", t0)
	r.expect("acme", "comes later", t0.Add(time.Millisecond))
	out := r.sweepBoth(fast())
	want := backstop.Released{ByReason: map[reason.Reason]int{reason.TimeChange: 2}, Late: time.Minute}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("released (-want +got):\n%s", diff)
	}
	r.sweepBoth(fast())
	if diff := cmp.Diff([]string{"came", "comes now"}, r.topic.codes()); diff != "" {
		t.Errorf("published (-want +got):\n%s", diff)
	}
}

// However many changes a code has missed, it is one event: a record expects one
// instant at a time.
func TestChangesMissedInAnOutageAreOneEventACode(t *testing.T) {
	r := newClockRig(t)
	const codes = 300
	for i := range codes {
		r.expect("acme", fmt.Sprintf("c%03d", i), t0.Add(time.Duration(i-codes)*time.Minute))
	}
	releaser := r.both(backstop.ReleaserOptions{TenantRate: 40, TotalRate: 1000})
	most := 0
	for range 10 {
		before := len(r.topic.codes())
		r.sweepWith(releaser)
		most = max(most, len(r.topic.codes())-before)
		r.clock.Advance(time.Second)
	}
	got := r.topic.codes()
	if len(got) != codes || len(unique(slices.Clone(got))) != codes || most > 40 {
		t.Errorf("%d events, %d a second at most; want one a code, 40 a second", len(got), most)
	}
	if seconds := slices.Index(got, "c040") / 40; seconds != 1 {
		t.Errorf("c040 was published in second %d; the oldest go first", seconds)
	}
}

// At one midnight the codes of many tenants change. All go at once as far as
// the address allows, and a calm tenant does not wait behind a large one.
func TestMidnightIsNoStampede(t *testing.T) {
	r := newClockRig(t)
	for i := range 1000 {
		r.expect("large", fmt.Sprintf("l%04d", i), t0)
	}
	for i := range 20 {
		r.expect(fmt.Sprintf("small-%02d", i), fmt.Sprintf("s%02d", i), t0)
	}
	releaser := r.both(backstop.ReleaserOptions{TenantRate: 40, TotalRate: 50})
	for second := range 3 {
		r.topic.published = nil
		r.sweepWith(releaser)
		r.clock.Advance(time.Second)
		counts := r.topic.perTenant()
		if n := len(r.topic.published); n > 50 || counts["large"] < 30 {
			t.Errorf("second %d: %d events, %d of the large tenant", second, n, counts["large"])
		}
		if second == 0 && len(counts) != 21 {
			t.Errorf("%d of 21 tenants had a turn in the first second", len(counts))
		}
	}
}

// A keeper dies at some point of its sweep. The next one publishes what is
// missing, and what became due since.
func TestAChangeOutlivesItsKeeper(t *testing.T) {
	for name, c := range map[string]struct {
		dieAt func(r *clockRig, die func())
		want  []string
	}{
		"before the event":                {func(r *clockRig, die func()) { r.topic.before = die }, []string{"c1", "c1"}},
		"between the event and the end":   {func(r *clockRig, die func()) { r.changes.beforeNoting = die }, []string{"c1", "c1"}},
		"not at all":                      {func(*clockRig, func()) {}, []string{"c1"}},
		"while the broker takes no event": {func(r *clockRig, _ func()) { r.topic.fail = map[string]error{"c1": errAway} }, []string{"c1"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newClockRig(t)
			r.expect("acme", "c1", t0)
			ctx, die := context.WithCancel(t.Context())
			c.dieAt(r, die)
			_, _ = r.both(fast()).Sweep(ctx) // its process is gone; nobody reads the error
			r.topic.before, r.changes.beforeNoting, r.topic.fail = nil, nil, nil
			r.sweepBoth(fast())
			r.sweepBoth(fast())
			if diff := cmp.Diff(c.want, r.topic.codes()); diff != "" {
				t.Errorf("published (-want +got):\n%s", diff)
			}
		})
	}
}

// A refresh that ends between the event and the end of its change has its own
// expectation kept, be it the same instant: its clock may be behind.
func TestAnExpectationDuringTheReleaseIsKept(t *testing.T) {
	for name, next := range map[string]time.Time{"the next": t0.Add(time.Hour), "the same again": t0} {
		t.Run(name, func(t *testing.T) {
			r := newClockRig(t)
			r.expect("acme", "c1", t0)
			r.changes.beforeNoting = func() { r.changes.beforeNoting = nil; r.expect("acme", "c1", next) }
			r.sweepWith(r.both(backstop.ReleaserOptions{TenantRate: 2, TotalRate: 2}))
			r.topic.published = nil
			r.clock.Advance(time.Hour)
			r.sweepBoth(fast())
			if diff := cmp.Diff([]string{"c1"}, r.topic.codes()); diff != "" {
				t.Errorf("published (-want +got):\n%s", diff)
			}
		})
	}
}

// A tenant has a storm of dirty codes and one of changes: they share its pace.
func TestTwoStormsOfATenantShareItsPace(t *testing.T) {
	r := newClockRig(t)
	for i := range 200 {
		r.mark("acme", fmt.Sprintf("d%03d", i), t0)
		r.expect("acme", fmt.Sprintf("t%03d", i), t0)
	}
	r.sweeps(20, backstop.ReleaserOptions{TenantRate: 10, TotalRate: 100})
	if diff := cmp.Diff(map[reason.Reason]int{reason.Overflow: 100, reason.TimeChange: 100}, r.topic.perReason()); diff != "" {
		t.Errorf("in 20 s at 10 a second (-want +got):\n%s", diff)
	}
}

func TestWhatDirtyCodesLeaveIsForChanges(t *testing.T) {
	r := newClockRig(t)
	for i := range 200 {
		r.expect("acme", fmt.Sprintf("t%03d", i), t0)
	}
	for i := range 5 {
		r.mark("acme", fmt.Sprintf("d%d", i), t0)
	}
	r.sweeps(10, backstop.ReleaserOptions{TenantRate: 10, TotalRate: 100})
	if diff := cmp.Diff(map[reason.Reason]int{reason.Overflow: 5, reason.TimeChange: 95}, r.topic.perReason()); diff != "" {
		t.Errorf("in 10 s at 10 a second (-want +got):\n%s", diff)
	}
}

// Each entry goes back to the set that it came from.
func TestAnEntryIsSettledInItsOwnSet(t *testing.T) {
	r := newClockRig(t)
	r.mark("acme", "both", t0)
	r.expect("acme", "both", t0)
	r.expect("acme", "a bad name", t0)
	r.topic.fail = map[string]error{"a bad name": fmt.Errorf("%w: a space", backstop.ErrUnpublishable)}
	if out := r.sweepBoth(fast()); out.Unpublishable != 1 {
		t.Errorf("%d entries were unpublishable, want 1", out.Unpublishable)
	}
	r.topic.fail = nil
	r.sweepBoth(fast())
	if diff := cmp.Diff([]string{"both", "both"}, r.topic.codes()); diff != "" || r.left() != 0 {
		t.Errorf("%d left; published (-want +got):\n%s", r.left(), diff)
	}
	r.clock.Advance(time.Hour)
	r.sweepBoth(fast())
	if got := r.topic.codes(); len(got) != 3 || got[2] != "a bad name" {
		t.Errorf("published %v; what was put off is due an hour later", got)
	}
}

func TestASetThatFailsIsAnErrorOfBoth(t *testing.T) {
	for _, at := range []string{"tenants", "due"} {
		r := newClockRig(t)
		r.mark("acme", "d1", t0)
		r.expect("acme", "t1", t0)
		r.set.fail = at
		if _, err := r.both(fast()).Sweep(t.Context()); !errors.Is(err, errAway) {
			t.Errorf("%s: Sweep() = %v, want the set's error", at, err)
		}
		r.set.fail = ""
		r.sweepBoth(fast())
		if diff := cmp.Diff([]string{"d1", "t1"}, unique(r.topic.codes())); diff != "" {
			t.Errorf("%s: published afterwards (-want +got):\n%s", at, diff)
		}
	}
}

// clockRig is a rig with records that expect changes.
type clockRig struct {
	*rig
	store   *pushtest.Store
	changes *changeSet
}

func newClockRig(t *testing.T) *clockRig {
	store := pushtest.NewStore()
	return &clockRig{rig: newRig(t), store: store, changes: &changeSet{Changes: store.Changes()}}
}

// expect lets a code's record expect a change.
func (r *clockRig) expect(tenant, code string, at time.Time) {
	ref := push.Ref{Tenant: tenant, Code: code}
	if err := r.store.ExpectChange(context.WithoutCancel(r.Context()), ref, at); err != nil {
		r.Error(err)
	}
}

func (r *clockRig) both(opts backstop.ReleaserOptions) *backstop.Releaser {
	opts.Parallel, opts.Now, opts.Logger = 4, r.clock.Now, slog.New(slog.DiscardHandler)
	return backstop.NewReleaser(backstop.InTurn(r.set, r.changes), r.topic, opts)
}

func (r *clockRig) sweepBoth(opts backstop.ReleaserOptions) backstop.Released {
	r.Helper()
	return r.sweepWith(r.both(opts))
}

// sweeps sweeps once a second.
func (r *clockRig) sweeps(n int, opts backstop.ReleaserOptions) {
	r.Helper()
	releaser := r.both(opts)
	for range n {
		r.sweepWith(releaser)
		r.clock.Advance(time.Second)
	}
}

func (t *topic) perReason() map[reason.Reason]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	counts := map[reason.Reason]int{}
	for _, e := range t.published {
		counts[e.Reason]++
	}
	return counts
}
