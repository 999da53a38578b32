package sim

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/backstop"
	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// keeper is one keeper process: the product's sweeps, one after the other.
type keeper struct {
	process
	w        *world
	skew     time.Duration // of its clock, by which it knows what is due
	releaser *backstop.Releaser
	settler  *backstop.Settler
	marker   *backstop.Marker
	busy     *task
	next     time.Time
	sweeps   int
}

const (
	sweepEvery = time.Second
	// keeperSkew is how wrong a keeper's clock is, either way. No margin is made
	// for it: who takes a change early only publishes once more.
	keeperSkew = 5 * time.Second
	// confirmAfter is soon: a code is often looked at while its event is still on
	// its way.
	confirmAfter = 2 * time.Second
)

func (w *world) keep(name string) *keeper {
	k := &keeper{w: w}
	k.name = name
	k.skew = w.upTo(2*keeperSkew) - keeperSkew
	k.begin()
	w.keepers = append(w.keepers, k)
	return k
}

// begin is the start of the process.
func (k *keeper) begin() {
	dirty := dirtyOf{k.w.dirty, k.w}
	due := backstop.InTurn(
		backstop.InState(dirty, push.DirtyWaits, confirmAfter, k.now),
		backstop.Share(backstop.InState(dirty, push.DirtyRepair, confirmAfter, k.now), 1),
		changesOf{k.w.store.Changes(), k.w},
	)
	k.releaser = backstop.NewReleaser(due, publisherOf{k.w}, backstop.ReleaserOptions{
		TenantRate: 2, TotalRate: 3, Parallel: 1, Now: k.now, Logger: slog.New(slog.DiscardHandler),
	})
	k.settler = backstop.NewSettler(dirty, checkerOf{k}, backstop.SettlerOptions{
		Confirm: confirmAfter, Patience: confirmAfter, Batch: 4, Batches: 2, Now: k.now, Logger: slog.New(slog.DiscardHandler),
	})
	k.marker = backstop.NewMarker(recordsOf{k.w}, dirty, backstop.MarkerOptions{
		Margin: k.w.profile.margin + 2*k.w.profile.skew, WholeEvery: time.Second, Parallel: 1, Now: k.w.clock.Now,
	})
}

func (k *keeper) now() time.Time { return k.w.clock.Now().Add(k.skew) }

// turn begins a sweep when it is time for one.
func (k *keeper) turn() {
	now := k.w.clock.Now()
	if k.busy != nil && !k.busy.ended || k.next.After(now) {
		return
	}
	k.next = now.Add(sweepEvery)
	k.sweeps++
	sweep := func(ctx context.Context) { _, _ = k.releaser.Sweep(ctx) }
	switch k.sweeps % 4 {
	case 0:
		sweep = func(ctx context.Context) { _, _ = k.marker.Sweep(ctx) }
	case 2:
		sweep = func(ctx context.Context) { _, _ = k.settler.Sweep(ctx) }
	}
	k.busy = k.w.startThreads(&k.process, k.name, sweep)
}

// die is kill -9; another process takes its place.
func (k *keeper) die() {
	if k.busy != nil && !k.busy.ended {
		k.w.note(k.name, "is killed")
		k.w.kill(k.busy)
		k.w.reap()
	}
	k.begin()
}

// dirtyOf is the dirty set with every step visible.
type dirtyOf struct {
	*pushtest.Dirty
	w *world
}

func (d dirtyOf) DueTenants(ctx context.Context, state push.DirtyState, now time.Time) ([]string, error) {
	if err := d.w.attempt(ctx, "dirty.due_tenants "+state.String()); err != nil {
		return nil, err
	}
	return d.Dirty.DueTenants(ctx, state, now)
}

func (d dirtyOf) Due(ctx context.Context, state push.DirtyState, tenant string, now time.Time, limit int) ([]backstop.Entry, error) {
	if err := d.w.attempt(ctx, "dirty.due "+tenant); err != nil {
		return nil, err
	}
	due, err := d.DueOf(ctx, state, tenant, now, limit)
	return entriesOf(due), err
}

func (d dirtyOf) Unconfirmed(ctx context.Context, now time.Time, limit int) ([]backstop.Entry, error) {
	if err := d.w.attempt(ctx, "dirty.unconfirmed"); err != nil {
		return nil, err
	}
	all, err := d.Dirty.Unconfirmed(ctx, now, limit)
	return entriesOf(all), err
}

func entriesOf(all []pushtest.Entry) []backstop.Entry {
	out := make([]backstop.Entry, 0, len(all))
	for _, e := range all {
		out = append(out, backstop.Entry{Ref: e.Ref, Reason: e.Reasons[0], Due: e.Due, Released: e.Released, Attempts: e.Attempts, Version: e.Version})
	}
	return out
}

func (d dirtyOf) Release(ctx context.Context, entries []backstop.Timed) error {
	return d.each(ctx, "dirty.release ", entries, d.Dirty.Release)
}

func (d dirtyOf) Defer(ctx context.Context, entries []backstop.Timed) error {
	return d.each(ctx, "dirty.defer ", entries, d.Dirty.Defer)
}

func (d dirtyOf) Repeat(ctx context.Context, entries []backstop.Timed) error {
	return d.each(ctx, "dirty.repeat ", entries, d.Dirty.Repeat)
}

func (d dirtyOf) Remove(ctx context.Context, entries []backstop.Entry) error {
	timed := make([]backstop.Timed, len(entries))
	for i, e := range entries {
		timed[i].Entry = e
	}
	return d.each(ctx, "dirty.remove ", timed, d.Dirty.Remove)
}

// each changes one entry after the other: a bulk write is no single step.
func (d dirtyOf) each(ctx context.Context, what string, entries []backstop.Timed, change func(context.Context, ...pushtest.Entry) (int, error)) error {
	for _, e := range entries {
		if err := d.w.attempt(ctx, what+e.Code); err != nil {
			return err
		}
		if _, err := change(ctx, pushtest.Entry{Ref: e.Ref, Version: e.Version, Due: e.At, Confirm: e.At}); err != nil {
			return err
		}
	}
	return d.w.lost()
}

// checkerOf compares codes with their facts, by the keeper's clock.
type checkerOf struct{ k *keeper }

func (c checkerOf) Confirm(ctx context.Context, refs []push.Ref) ([]audit.Finding, error) {
	w := c.k.w
	findings := make([]audit.Finding, len(refs))
	for i, ref := range refs {
		look := audit.Look{Ref: ref}
		version, err := w.rotation.Version(ctx, ref)
		if err != nil {
			return nil, err
		}
		if look.Facts, look.Record, err = w.store.Load(ctx, ref); err != nil {
			return nil, err
		}
		if set, there := w.rotation.Set(ref); there {
			look.Set = audit.Set{Version: version, Round: set.Round}
			for _, seat := range set.Seats {
				look.Set.Staff = append(look.Set.Staff, seat.Staff)
			}
		}
		findings[i] = audit.Compare(look, roster.LaneRules{}, c.k.now())
	}
	return findings, nil
}

func (d dirtyOf) Postpone(ctx context.Context, e backstop.Entry, until time.Time) error {
	if err := d.w.attempt(ctx, "dirty.postpone "+e.Code); err != nil {
		return err
	}
	_, err := d.Dirty.Postpone(ctx, e.Ref, e.Version, until)
	return errors.Join(err, d.w.lost())
}

// changesOf are the records' next changes with every step visible.
type changesOf struct {
	*pushtest.Changes
	w *world
}

func (c changesOf) DueTenants(ctx context.Context, now time.Time) ([]string, error) {
	if err := c.w.attempt(ctx, "changes.due_tenants"); err != nil {
		return nil, err
	}
	return c.Changes.DueTenants(ctx, now)
}

func (c changesOf) Due(ctx context.Context, tenant string, now time.Time, limit int) ([]backstop.Entry, error) {
	if err := c.w.attempt(ctx, "changes.due "+tenant); err != nil {
		return nil, err
	}
	var out []backstop.Entry
	for _, change := range c.Find(tenant, now, limit) {
		if change.Version == "" {
			if err := c.w.attempt(ctx, "changes.take "+change.Code); err != nil {
				return nil, err
			}
			change = c.TakeOne(change)
		}
		out = append(out, backstop.Entry{Ref: change.Ref, Reason: reason.TimeChange, Due: change.At, Version: change.Version})
	}
	return out, c.w.lost()
}

// Published comes late more often than other steps: refreshes have to fall between
// an event and the end of its change.
func (c changesOf) Published(ctx context.Context, entries []backstop.Entry) error {
	c.w.dawdle(0.2)
	for _, e := range entries {
		if err := c.w.attempt(ctx, "changes.finish "+e.Code); err != nil {
			return err
		}
		if _, err := c.Finish(ctx, pushtest.Change{Ref: e.Ref, Version: e.Version}); err != nil {
			return err
		}
		c.w.checkExpected(e.Ref)
	}
	return c.w.lost()
}

func (c changesOf) Postpone(ctx context.Context, e backstop.Entry, until time.Time) error {
	if err := c.w.attempt(ctx, "changes.postpone "+e.Code); err != nil {
		return err
	}
	_, err := c.Changes.Postpone(ctx, pushtest.Change{Ref: e.Ref, Version: e.Version}, until)
	return errors.Join(err, c.w.lost())
}

// recordsOf finds the intents that were left behind.
type recordsOf struct{ w *world }

func (r recordsOf) Expired(ctx context.Context, from, before time.Time) iter.Seq2[push.Ref, error] {
	return func(yield func(push.Ref, error) bool) {
		if err := r.w.attempt(ctx, "records.expired"); err != nil {
			yield(push.Ref{}, err)
			return
		}
		// One of them: the marker chooses by Go's select whether it goes on after
		// a mark that failed, and a seed has to be one schedule.
		if found := r.expired(from, before); len(found) > 0 {
			yield(found[r.w.rnd.IntN(len(found))], nil)
		}
	}
}

// expired are the codes with an intent that was left behind.
func (r recordsOf) expired(from, before time.Time) []push.Ref {
	return slices.DeleteFunc(slices.Clone(r.w.codes), func(ref push.Ref) bool {
		return !slices.ContainsFunc(r.w.store.Record(ref).Intents, func(i push.Intent) bool {
			return i.Deadline.Before(before) && !i.Deadline.Before(from)
		})
	})
}

// publisherOf stores events with the broker.
type publisherOf struct{ w *world }

func (p publisherOf) Publish(ctx context.Context, entries []backstop.Entry) []error {
	failed := make([]error, len(entries))
	for i, e := range entries {
		if failed[i] = p.w.attempt(ctx, "publish "+e.Code); failed[i] == nil {
			failed[i] = p.store(e)
		}
	}
	return failed
}

// store is the broker's part, which fails more often than a database does.
func (p publisherOf) store(e backstop.Entry) error {
	if p.w.happens(0.1) {
		return errRefused
	}
	if e.Reason == reason.TimeChange {
		p.w.timed++
	}
	p.w.broker.publish(e.Ref)
	return p.w.lost()
}
