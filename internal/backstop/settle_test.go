package backstop_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/backstop"
	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// wholeSet shows the fake of the push protocol's tests as a backstop.DirtySet.
type wholeSet struct{ *pushtest.Dirty }

func entriesOf(all []pushtest.Entry) []backstop.Entry {
	out := make([]backstop.Entry, 0, len(all))
	for _, e := range all {
		out = append(out, backstop.Entry{Ref: e.Ref, Reason: e.Reasons[0], Due: e.Due, Released: e.Released, Attempts: e.Attempts, Version: e.Version})
	}
	return out
}

func (s wholeSet) DueTenants(ctx context.Context, state push.DirtyState, now time.Time) ([]string, error) {
	return s.Dirty.DueTenants(ctx, state, now)
}

func (s wholeSet) Due(ctx context.Context, state push.DirtyState, tenant string, now time.Time, limit int) ([]backstop.Entry, error) {
	due, err := s.DueOf(ctx, state, tenant, now, limit)
	return entriesOf(due), err
}

func (s wholeSet) Unconfirmed(ctx context.Context, now time.Time, limit int) ([]backstop.Entry, error) {
	all, err := s.Dirty.Unconfirmed(ctx, now, limit)
	return entriesOf(all), err
}

func seenAt(timed []backstop.Timed) []pushtest.Entry {
	var out []pushtest.Entry
	for _, t := range timed {
		out = append(out, pushtest.Entry{Ref: t.Ref, Version: t.Version, Due: t.At, Confirm: t.At})
	}
	return out
}

func (s wholeSet) Release(ctx context.Context, timed []backstop.Timed) error {
	_, err := s.Dirty.Release(ctx, seenAt(timed)...)
	return err
}

func (s wholeSet) Defer(ctx context.Context, timed []backstop.Timed) error {
	_, err := s.Dirty.Defer(ctx, seenAt(timed)...)
	return err
}

func (s wholeSet) Repeat(ctx context.Context, timed []backstop.Timed) error {
	_, err := s.Dirty.Repeat(ctx, seenAt(timed)...)
	return err
}

func (s wholeSet) Remove(ctx context.Context, entries []backstop.Entry) error {
	var seen []pushtest.Entry
	for _, e := range entries {
		seen = append(seen, pushtest.Entry{Ref: e.Ref, Version: e.Version})
	}
	_, err := s.Dirty.Remove(ctx, seen...)
	return err
}

func (s wholeSet) Postpone(ctx context.Context, e backstop.Entry, until time.Time) error {
	_, err := s.Dirty.Postpone(ctx, e.Ref, e.Version, until)
	return err
}

// checker finds what it was told of a code.
type checker struct {
	found map[string]audit.Finding
	err   error
}

func (c checker) Confirm(_ context.Context, refs []push.Ref) ([]audit.Finding, error) {
	out := make([]audit.Finding, len(refs))
	for i, ref := range refs {
		out[i] = c.found[ref.Code]
	}
	return out, c.err
}

const (
	confirm  = 30 * time.Second
	patience = 2 * time.Minute
)

// settleRig releases what waits and what is to mend, and settles.
type settleRig struct {
	*rig
	set      wholeSet
	releaser *backstop.Releaser
	settler  *backstop.Settler
	checker  *checker
}

func newSettleRig(t *testing.T) *settleRig {
	r := &settleRig{rig: newRig(t), checker: &checker{found: map[string]audit.Finding{}}}
	r.set = wholeSet{r.dirty}
	due := backstop.InTurn(
		backstop.InState(r.set, push.DirtyWaits, confirm, r.clock.Now),
		backstop.Share(backstop.InState(r.set, push.DirtyRepair, confirm, r.clock.Now), 2),
	)
	r.releaser = backstop.NewReleaser(due, r.topic, backstop.ReleaserOptions{
		TenantRate: 20, TotalRate: 100, Parallel: 4, Now: r.clock.Now, Logger: slog.New(slog.DiscardHandler),
	})
	r.settler = backstop.NewSettler(r.set, r.checker, backstop.SettlerOptions{
		Confirm: confirm, Patience: patience, Batch: 3, Batches: 100, Now: r.clock.Now, Logger: slog.New(slog.DiscardHandler),
	})
	return r
}

func (r *settleRig) dirtyOf(why reason.Reason, codes ...string) {
	for _, code := range codes {
		if err := r.dirty.Mark(r.Context(), push.Mark{Ref: push.Ref{Tenant: "acme", Code: code}, Reason: why, Due: r.clock.Now()}); err != nil {
			r.Fatal(err)
		}
	}
}

func (r *settleRig) settle(want backstop.Settled) {
	r.Helper()
	got, err := r.settler.Sweep(r.Context())
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		r.Errorf("settled: %v (-want +got):\n%s", err, diff)
	}
}

func (r *settleRig) entry(code string) pushtest.Entry {
	r.Helper()
	e, there, err := r.dirty.Get(r.Context(), push.Ref{Tenant: "acme", Code: code})
	if err != nil || !there {
		r.Fatalf("%s is not dirty: %v", code, err)
	}
	return e
}

// A code stays in the set until it agrees, however often that takes; what still
// differs is published again, less often each time.
func TestACodeLeavesTheSetWhenItAgrees(t *testing.T) {
	r := newSettleRig(t)
	r.dirtyOf(reason.Overflow, "agrees", "waits", "differs", "unknown")
	r.checker.found = map[string]audit.Finding{
		"waits": {Kind: reason.Stale, Waits: reason.Throttled}, "differs": {Kind: reason.Stale}, "unknown": {Kind: reason.UnknownCode},
	}
	r.sweepWith(r.releaser)
	if n := len(r.topic.codes()); n != 4 {
		t.Fatalf("%d events; want 4", n)
	}
	r.settle(backstop.Settled{}) // it is too early
	now := r.clock.Advance(confirm)
	r.settle(backstop.Settled{Agreed: 1, Waiting: 2, Repeated: 1}) // a refresher may hold who differs
	if got := r.entry("waits"); !got.Confirm.Equal(now.Add(2 * confirm)) {
		t.Errorf("who waits is looked at at %v; want after %v", got.Confirm, 2*confirm)
	}
	if got := r.entry("unknown"); !got.Due.Equal(now.Add(time.Hour)) {
		t.Errorf("a code that is not there is due at %v; want in an hour", got.Due)
	}
	now = r.clock.Advance(patience)
	r.settle(backstop.Settled{Waiting: 1, Repeated: 1})
	if got := r.entry("differs"); got.State != push.DirtyRepair || !got.Due.Equal(now.Add(confirm)) || got.Attempts != 1 {
		t.Errorf("who differs: %+v; want something to mend, due after %v", got, confirm)
	}
	if _, there, _ := r.dirty.Get(t.Context(), push.Ref{Tenant: "acme", Code: "agrees"}); there {
		t.Error("who agrees is still dirty")
	}
	r.clock.Advance(confirm)
	r.sweepWith(r.releaser)
	if got := r.entry("differs"); got.State != push.DirtyReleased || !got.Confirm.Equal(r.clock.Now().Add(2*confirm)) {
		t.Errorf("published twice: %+v; want a look after %v", got, 2*confirm)
	}
}

// Its mark came after the event: the look must not take it out.
func TestAMarkIsNotSettledAway(t *testing.T) {
	r := newSettleRig(t)
	r.dirtyOf(reason.Overflow, "c")
	r.sweepWith(r.releaser)
	r.clock.Advance(confirm)
	seen, err := r.set.Unconfirmed(t.Context(), r.clock.Now(), 1)
	if err != nil {
		t.Fatal(err)
	}
	r.dirtyOf(reason.Throttled, "c")
	if err := r.set.Remove(t.Context(), seen); err != nil {
		t.Fatal(err)
	}
	r.settle(backstop.Settled{})
	if got := r.entry("c"); got.State != push.DirtyWaits {
		t.Errorf("marked after its event: %+v; want it to wait", got)
	}
}

// What is to mend has a share of its own, and what waits is not held up by it.
func TestMendingKeepsToItsShare(t *testing.T) {
	r := newSettleRig(t)
	for i := range 100 {
		r.dirtyOf(reason.Transient, "mend-"+string(rune('a'+i%26))+string(rune('a'+i/26)))
	}
	for i := range 10 {
		r.dirtyOf(reason.Overflow, "wait-"+string(rune('a'+i)))
	}
	out := r.sweepWith(r.releaser)
	want := map[reason.Reason]int{reason.Overflow: 10, reason.Transient: 2}
	if diff := cmp.Diff(want, out.ByReason); diff != "" {
		t.Errorf("the first sweep (-want +got):\n%s", diff)
	}
	mended := 2
	for range 10 {
		r.clock.Advance(time.Second)
		mended += r.sweepWith(r.releaser).ByReason[reason.Transient]
	}
	if mended < 20 || mended > 24 {
		t.Errorf("%d mended in 10 s; the share is 2 a second", mended)
	}
}

func TestASettlerThatCannotLookChangesNothing(t *testing.T) {
	r := newSettleRig(t)
	r.dirtyOf(reason.Overflow, "a", "b", "c", "d")
	r.sweepWith(r.releaser)
	r.clock.Advance(confirm)
	r.checker.err = errAway
	if _, err := r.settler.Sweep(t.Context()); !errors.Is(err, errAway) {
		t.Errorf("Sweep() = %v; want the cause", err)
	}
	r.checker.err = nil
	r.settle(backstop.Settled{Agreed: 4})
}

// Sixteen tenants are asked for at once, whether they have something to mend or
// not.
func TestSharesOfManyTenantsAreTakenAtOnce(t *testing.T) {
	r := newSettleRig(t)
	const tenants = 50
	for i := range tenants {
		ref := push.Ref{Tenant: fmt.Sprint("t", i), Code: fmt.Sprint("c", i)}
		if err := r.dirty.Mark(t.Context(), push.Mark{Ref: ref, Reason: reason.Overflow, Due: t0}); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.sweepWith(r.releaser).ByReason[reason.Overflow]; n != tenants {
		t.Errorf("%d released; want %d", n, tenants)
	}
}
