package backstop_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/backstop"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

var t0 = time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)

var errAway = errors.New("the store is away")

// rig is a dirty set and a topic under a clock that stands still.
type rig struct {
	*testing.T
	clock *pushtest.Clock
	dirty *pushtest.Dirty
	set   *dirtySet
	topic *topic
}

func newRig(t *testing.T) *rig {
	clock := pushtest.NewClock(t0)
	dirty := pushtest.NewDirty(clock)
	return &rig{T: t, clock: clock, dirty: dirty, set: &dirtySet{Dirty: dirty}, topic: &topic{}}
}

// fast releases whatever is due.
func fast() backstop.ReleaserOptions {
	return backstop.ReleaserOptions{TenantRate: 1e6, TotalRate: 1e6}
}

func (r *rig) releaser(opts backstop.ReleaserOptions) *backstop.Releaser {
	opts.Parallel, opts.Now, opts.Logger = 4, r.clock.Now, slog.New(slog.DiscardHandler)
	return backstop.NewReleaser(r.set, r.topic, opts)
}

func (r *rig) sweep() backstop.Released {
	r.Helper()
	return r.sweepWith(r.releaser(fast()))
}

func (r *rig) sweepWith(releaser *backstop.Releaser) backstop.Released {
	r.Helper()
	out, err := releaser.Sweep(r.Context())
	if err != nil {
		r.Fatalf("Sweep() = %v", err)
	}
	return out
}

func (r *rig) mark(tenant, code string, due time.Time) {
	mark := push.Mark{Ref: push.Ref{Tenant: tenant, Code: code}, Reason: reason.Overflow, Due: due}
	if err := r.dirty.Mark(context.WithoutCancel(r.Context()), mark); err != nil {
		r.Error(err)
	}
}

func (r *rig) entries() []pushtest.Entry {
	entries, err := r.dirty.List(r.Context(), push.Ref{}, 100_000)
	if err != nil {
		r.Fatal(err)
	}
	return entries
}

// left is how many codes wait to be published.
func (r *rig) left() int {
	return len(slices.DeleteFunc(r.entries(), func(e pushtest.Entry) bool { return e.State == push.DirtyReleased }))
}

// dirtySet shows the fake of the push protocol's tests as a backstop.DueSet.
type dirtySet struct {
	*pushtest.Dirty
	fail         string // "tenants", "due": this read fails
	beforeNoting func()
}

func (d *dirtySet) DueTenants(ctx context.Context, now time.Time) ([]string, error) {
	if d.fail == "tenants" {
		return nil, errAway
	}
	return d.Dirty.DueTenants(ctx, push.DirtyWaits, now)
}

func (d *dirtySet) Due(ctx context.Context, tenant string, now time.Time, limit int) ([]backstop.Entry, error) {
	if d.fail == "due" {
		return nil, errAway
	}
	due, err := d.DueOf(ctx, push.DirtyWaits, tenant, now, limit)
	out := make([]backstop.Entry, 0, len(due))
	for _, e := range due {
		out = append(out, backstop.Entry{Ref: e.Ref, Reason: e.Reasons[0], Due: e.Due, Version: e.Version})
	}
	return out, errors.Join(err, ctx.Err())
}

func (d *dirtySet) Published(ctx context.Context, entries []backstop.Entry) error {
	if d.beforeNoting != nil {
		d.beforeNoting()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	seen := make([]pushtest.Entry, len(entries))
	for i, e := range entries {
		seen[i] = pushtest.Entry{Ref: e.Ref, Version: e.Version, Confirm: e.Due.Add(time.Hour)}
	}
	_, err := d.Release(ctx, seen...)
	return err
}

func (d *dirtySet) Postpone(ctx context.Context, e backstop.Entry, until time.Time) error {
	_, err := d.Dirty.Postpone(ctx, e.Ref, e.Version, until)
	return err
}

// changeSet shows the records' changes as a backstop.DueSet.
type changeSet struct {
	*pushtest.Changes
	beforeNoting func()
}

func (c *changeSet) Due(ctx context.Context, tenant string, now time.Time, limit int) ([]backstop.Entry, error) {
	taken, err := c.Take(ctx, tenant, now, limit)
	var out []backstop.Entry
	for _, change := range taken {
		out = append(out, backstop.Entry{Ref: change.Ref, Reason: reason.TimeChange, Due: change.At, Version: change.Version})
	}
	return out, err
}

func (c *changeSet) Published(ctx context.Context, entries []backstop.Entry) error {
	if c.beforeNoting != nil {
		c.beforeNoting()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, e := range entries {
		if _, err := c.Finish(ctx, pushtest.Change{Ref: e.Ref, Version: e.Version}); err != nil {
			return err
		}
	}
	return nil
}

func (c *changeSet) Postpone(ctx context.Context, e backstop.Entry, until time.Time) error {
	_, err := c.Changes.Postpone(ctx, pushtest.Change{Ref: e.Ref, Version: e.Version}, until)
	return err
}

// topic notes what is published.
type topic struct {
	fail   map[string]error // by code
	before func()

	mu        sync.Mutex
	published []backstop.Entry
}

func (t *topic) Publish(_ context.Context, entries []backstop.Entry) []error {
	if t.before != nil {
		t.before()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	errs := make([]error, len(entries))
	for i, e := range entries {
		if errs[i] = t.fail[e.Code]; errs[i] == nil {
			t.published = append(t.published, e)
		}
	}
	return errs
}

func (t *topic) codes() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var codes []string
	for _, e := range t.published {
		codes = append(codes, e.Code)
	}
	return codes
}

func (t *topic) perTenant() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	counts := map[string]int{}
	for _, e := range t.published {
		counts[e.Tenant]++
	}
	return counts
}

// records holds the deadline of one intent by code.
type records struct {
	intents map[string]time.Time
	fail    string // reading ends with an error at this code
}

func (r *records) Expired(_ context.Context, from, before time.Time) iter.Seq2[push.Ref, error] {
	return func(yield func(push.Ref, error) bool) {
		for _, code := range slices.Sorted(maps.Keys(r.intents)) {
			at := r.intents[code]
			if at.Before(from) || !at.Before(before) {
				continue
			}
			if code == r.fail {
				yield(push.Ref{}, errAway)
				return
			}
			if !yield(push.Ref{Tenant: "acme", Code: code}, nil) {
				return
			}
		}
	}
}

func values(m map[string]int) iter.Seq[int] { return maps.Values(m) }
