package backstop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/backstop"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

func TestReleasesWhatIsDueAndNothingElse(t *testing.T) {
	r := newRig(t)
	r.mark("acme", "due", t0.Add(-time.Second))
	r.mark("acme", "now", t0)
	r.mark("acme", "later", t0.Add(time.Millisecond))
	out := r.sweep()
	if diff := cmp.Diff(backstop.Released{ByReason: map[reason.Reason]int{reason.Overflow: 2}, Late: time.Second}, out); diff != "" {
		t.Errorf("released (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"due", "now"}, r.topic.codes()); diff != "" || r.left() != 1 {
		t.Errorf("published (-want +got), %d left:\n%s", r.left(), diff)
	}
	if got := r.topic.published[0].Reason; got != reason.Overflow {
		t.Errorf("released for %q, want the first reason it was marked with", got)
	}
}

// One tenant has 2 000 codes due, for hours, and forty have three each that have
// just become due.
func TestOneTenantsStormStandsInNobodysWay(t *testing.T) {
	r := newRig(t)
	const storm, calm, each, rate = 2000, 40, 3, 40
	for i := range storm {
		r.mark("storm", fmt.Sprintf("s%04d", i), t0.Add(time.Duration(i-storm)*time.Second))
	}
	for i := range calm {
		for j := range each {
			r.mark(fmt.Sprintf("calm-%02d", i), fmt.Sprintf("c%d", j), t0)
		}
	}
	releaser := r.releaser(backstop.ReleaserOptions{TenantRate: rate, TotalRate: 1000})
	for second := range storm / rate {
		r.topic.published = nil
		r.sweepWith(releaser)
		r.clock.Advance(time.Second)
		counts := r.topic.perTenant()
		if counts["storm"] != rate {
			t.Fatalf("%d codes of the storm in second %d, want its pace of %d", counts["storm"], second, rate)
		}
		delete(counts, "storm")
		if second == 0 {
			if len(counts) != calm || slices.Max(slices.Collect(values(counts))) != each {
				t.Errorf("the first sweep released %v of the calm tenants, want all", counts)
			}
		}
	}
	if n := r.left(); n != 0 {
		t.Errorf("%d codes are left", n)
	}
	total := storm + calm*each
	if got := r.dirty.Writes(); got != 2*total {
		t.Errorf("%d writes to the dirty set for %d codes, want a mark and a removal each", got, total)
	}
}

func TestTenantsShareWhatTheAddressAllows(t *testing.T) {
	r := newRig(t)
	for i := range 300 {
		for _, tenant := range []string{"a", "b", "c"} {
			r.mark(tenant, fmt.Sprintf("%s%03d", tenant, i), t0.Add(-time.Hour))
		}
	}
	r.mark("calm", "c", t0)
	releaser := r.releaser(backstop.ReleaserOptions{TenantRate: 20, TotalRate: 30})
	for range 20 {
		r.sweepWith(releaser)
		r.clock.Advance(time.Second)
	}
	counts := r.topic.perTenant()
	if n := len(r.topic.published); n < 19*30 || n > 20*30+1 {
		t.Errorf("%d codes in 20 s, want 30 a second", n)
	}
	for _, tenant := range []string{"a", "b", "c"} {
		if counts[tenant] < 180 || counts[tenant] > 220 {
			t.Errorf("tenant %s got %d of 600, want a third: %v", tenant, counts[tenant], counts)
		}
	}
	if counts["calm"] != 1 {
		t.Errorf("the calm tenant's code was not released")
	}
}

// What tenants with a few codes leave of their share is the storm's.
func TestWhatIsLeftOfAShareIsNotLost(t *testing.T) {
	r := newRig(t)
	for i := range 200 {
		r.mark("storm", fmt.Sprintf("s%03d", i), t0.Add(-time.Hour))
	}
	releaser := r.releaser(backstop.ReleaserOptions{TenantRate: 40, TotalRate: 160})
	for second := range 5 {
		for i := range 40 {
			r.mark(fmt.Sprintf("calm-%02d", i), fmt.Sprint(second), r.clock.Now())
		}
		r.topic.published = nil
		r.sweepWith(releaser)
		counts := r.topic.perTenant()
		if counts["storm"] != 40 || len(counts) != 41 {
			t.Errorf("second %d: %d codes of the storm and %d tenants, want 40 and 41", second, counts["storm"], len(counts))
		}
		r.clock.Advance(time.Second)
	}
}

// More tenants than may be served in one sweep take turns.
func TestEveryTenantHasItsTurn(t *testing.T) {
	r := newRig(t)
	const tenants = 50
	for i := range tenants {
		for j := range 30 {
			r.mark(fmt.Sprintf("t%02d", i), fmt.Sprintf("c%d-%d", i, j), t0)
		}
	}
	releaser := r.releaser(backstop.ReleaserOptions{TenantRate: 10, TotalRate: 10})
	for range 60 {
		r.sweepWith(releaser)
		r.clock.Advance(time.Second)
	}
	if got := len(r.topic.perTenant()); got != tenants {
		t.Errorf("%d of %d tenants were served in 60 sweeps", got, tenants)
	}
}

// A sweep that comes late makes up for two seconds, and not for an hour.
func TestThePaceIsNotSavedUp(t *testing.T) {
	r := newRig(t)
	for i := range 100 {
		r.mark("acme", fmt.Sprintf("c%03d", i), t0)
	}
	releaser := r.releaser(backstop.ReleaserOptions{TenantRate: 10, TotalRate: 1000})
	var got []int
	for _, pause := range []time.Duration{0, time.Second, 500 * time.Millisecond, 1500 * time.Millisecond, time.Hour} {
		r.clock.Advance(pause)
		r.topic.published = nil
		r.sweepWith(releaser)
		got = append(got, len(r.topic.published))
	}
	if diff := cmp.Diff([]int{10, 10, 5, 15, 20}, got); diff != "" {
		t.Errorf("codes a sweep (-want +got):\n%s", diff)
	}
}

// A rate below one code a sweep is kept too.
func TestASlowPaceIsKept(t *testing.T) {
	r := newRig(t)
	for i := range 10 {
		r.mark("acme", fmt.Sprintf("c%d", i), t0)
	}
	releaser := r.releaser(backstop.ReleaserOptions{TenantRate: 0.25, TotalRate: 0.25})
	for range 16 {
		r.sweepWith(releaser)
		r.clock.Advance(time.Second)
	}
	if n := len(r.topic.published); n != 4 {
		t.Errorf("%d codes in 16 s at one in 4 s", n)
	}
}

func TestACodeWhosePublishFailsStaysDueAsItWas(t *testing.T) {
	r := newRig(t)
	away := errors.New("broker away")
	r.mark("acme", "c1", t0)
	r.mark("acme", "c2", t0)
	r.topic.fail = map[string]error{"c1": away}
	writes := r.dirty.Writes()
	out, err := r.releaser(fast()).Sweep(t.Context())
	if !errors.Is(err, away) || len(r.topic.published) != 1 || out.Unpublishable != 0 {
		t.Fatalf("Sweep() = %+v, %v; want the broker's error and the other code released", out, err)
	}
	if n := r.dirty.Writes() - writes; n != 1 {
		t.Errorf("%d writes, want the removal of the other code alone", n)
	}
	r.topic.fail = nil
	r.sweep()
	if diff := cmp.Diff([]string{"c2", "c1"}, r.topic.codes()); diff != "" || r.left() != 0 {
		t.Errorf("published (-want +got), %d left:\n%s", r.left(), diff)
	}
}

func TestAnEntryNoEventCanBeMadeOfStandsInNobodysWay(t *testing.T) {
	r := newRig(t)
	r.mark("acme", "a bad name", t0.Add(-time.Hour))
	r.mark("acme", "c1", t0)
	r.topic.fail = map[string]error{"a bad name": fmt.Errorf("%w: a space", backstop.ErrUnpublishable)}
	releaser := r.releaser(backstop.ReleaserOptions{TenantRate: 1, TotalRate: 10})
	var out []int
	for range 3 {
		out = append(out, r.sweepWith(releaser).Unpublishable)
		r.clock.Advance(time.Second)
	}
	if diff := cmp.Diff([]int{1, 0, 0}, out); diff != "" {
		t.Errorf("unpublishable (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"c1"}, r.topic.codes()); diff != "" {
		t.Errorf("published (-want +got):\n%s", diff)
	}
	e, found, err := r.dirty.Get(t.Context(), push.Ref{Tenant: "acme", Code: "a bad name"})
	if !found || err != nil || !e.Due.Equal(t0.Add(time.Hour)) || e.Attempts != 1 {
		t.Errorf("its entry is %+v, %v, %v; want it due in an hour", e, found, err)
	}
}

func TestAMarkDuringTheReleaseKeepsTheCodeDirty(t *testing.T) {
	r := newRig(t)
	r.mark("acme", "c1", t0)
	r.topic.before = func() { r.topic.before = nil; r.mark("acme", "c1", t0.Add(time.Hour)) }
	r.sweep()
	if r.left() != 1 {
		t.Error("a mark that came during the release was lost")
	}
}

// A keeper that dies after the broker has the event and before the entry is
// gone leaves it to the next one.
func TestACrashBetweenEventAndRemovalReleasesOnceMore(t *testing.T) {
	r := newRig(t)
	r.mark("acme", "c1", t0)
	ctx, die := context.WithCancel(t.Context())
	r.set.beforeNoting = die
	_, _ = r.releaser(fast()).Sweep(ctx) // its process is gone; nobody reads the error
	r.set.beforeNoting = nil
	r.sweep()
	if diff := cmp.Diff([]string{"c1", "c1"}, r.topic.codes()); diff != "" || r.left() != 0 {
		t.Errorf("published (-want +got), %d left:\n%s", r.left(), diff)
	}
}

// A keeper is paused at a point of its sweep, for so long that another one has
// released everything and new marks have come. Then it goes on.
func TestAKeeperThatWakesUpLateDoesNoHarm(t *testing.T) {
	for name, pauseAt := range map[string]func(r *rig, pause func()){
		"before it publishes": func(r *rig, pause func()) { r.topic.before = pause },
		"before it removes":   func(r *rig, pause func()) { r.set.beforeNoting = pause },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			for _, code := range []string{"gone", "marked", "marked again"} {
				r.mark("acme", code, t0)
			}
			pauseAt(r, func() {
				r.topic.before, r.set.beforeNoting = nil, nil
				r.mark("acme", "marked", t0.Add(time.Hour)) // while the entry is there
				r.sweep()                                   // the next keeper
				r.clock.Advance(time.Hour)
				r.mark("acme", "marked again", r.clock.Now().Add(time.Hour)) // a new entry
			})
			r.sweep()
			var left []string
			for _, e := range r.entries() {
				if e.State != push.DirtyReleased {
					left = append(left, e.Code)
				}
			}
			if diff := cmp.Diff([]string{"marked again"}, left); diff != "" {
				t.Errorf("left in the set (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"gone", "marked", "marked again"}, unique(r.topic.codes())); diff != "" {
				t.Errorf("published (-want +got):\n%s", diff)
			}
		})
	}
}

// A sweep that is cancelled stops; what it did not do is still to be done.
func TestACancelledSweepLosesNothing(t *testing.T) {
	r := newRig(t)
	const tenants = 200
	for i := range tenants {
		r.mark(fmt.Sprintf("t%03d", i), fmt.Sprintf("c%03d", i), t0)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var calls atomic.Int64
	r.topic.before = func() {
		if calls.Add(1) == 20 {
			cancel()
		}
	}
	_, err := r.releaser(fast()).Sweep(ctx)
	r.topic.before = nil
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Sweep() = %v, want context.Canceled", err)
	}
	if n := len(r.topic.published); n > 50 {
		t.Errorf("%d codes were released after the end", n)
	}
	if n := strings.Count(err.Error(), "\n"); n > 10 {
		t.Errorf("%d tenants were begun after the end", n)
	}
	r.sweep()
	if diff := cmp.Diff(tenants, len(unique(r.topic.codes()))); diff != "" || r.left() != 0 {
		t.Errorf("%d left; published (-want +got):\n%s", r.left(), diff)
	}
}

func TestASetThatCannotBeReadIsAnError(t *testing.T) {
	r := newRig(t)
	r.mark("acme", "c1", t0)
	for name, at := range map[string]string{"tenants": "tenants", "due": "due"} {
		r.set.fail = at
		out, err := r.releaser(fast()).Sweep(t.Context())
		if !errors.Is(err, errAway) || len(out.ByReason) != 0 {
			t.Errorf("%s: Sweep() = %+v, %v; want the set's error", name, out, err)
		}
	}
	if diff := cmp.Diff(1, r.left()); diff != "" {
		t.Error(diff)
	}
}

func unique(codes []string) []string {
	slices.Sort(codes)
	return slices.Compact(codes)
}
