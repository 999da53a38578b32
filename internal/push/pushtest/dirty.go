package pushtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Entry is what a dirty set holds of one code.
type Entry struct {
	push.Ref
	Reasons   []reason.Reason // each once, in the order of their first mark
	Detail    string          // of the last mark
	State     push.DirtyState
	Due       time.Time // the earliest of the marks since it was postponed; zero once released
	Released  time.Time // when the broker had its event last; zero: never
	Confirm   time.Time // when a released code is looked at
	FirstSeen time.Time
	LastSeen  time.Time
	Count     int    // marks
	Attempts  int    // postponements and releases
	Version   string // another one after every mark and postponement, never used twice
}

// Dirty is push.Dirty in memory, with what a keeper does to it.
type Dirty struct {
	Hooks

	clock   *Clock
	mu      sync.Mutex
	version int64
	writes  int
	entries map[push.Ref]Entry
}

var _ push.Dirty = (*Dirty)(nil)

// NewDirty returns an empty dirty set that takes its time from clock.
func NewDirty(clock *Clock) *Dirty {
	return &Dirty{clock: clock, entries: map[push.Ref]Entry{}}
}

// Mark makes codes dirty, or adds to what is known of dirty ones.
func (d *Dirty) Mark(ctx context.Context, marks ...push.Mark) error {
	return d.do(ctx, OpMark, func() {
		for _, mark := range marks {
			d.mark(mark)
		}
	})
}

func (d *Dirty) mark(mark push.Mark) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, due := stored(d.clock.Now()), stored(mark.Due)
	e, known := d.entries[mark.Ref]
	if !known {
		e = Entry{Ref: mark.Ref, FirstSeen: now, Due: due, State: push.StateOf(mark.Reason)}
	}
	if e.Due.IsZero() || due.Before(e.Due) {
		e.Due = due
	}
	e.State, e.Confirm = min(e.State, push.StateOf(mark.Reason)), time.Time{}
	if push.StateOf(mark.Reason) == push.DirtyWaits {
		e.Attempts = 0 // a wait is no failure of what was tried before
	}
	if !slices.Contains(e.Reasons, mark.Reason) {
		e.Reasons = append(slices.Clone(e.Reasons), mark.Reason)
	}
	e.Detail, e.LastSeen = mark.Detail, now
	e.Count++
	e.Version = d.nextVersion()
	d.entries[mark.Ref] = e
	d.writes++
}

func (d *Dirty) nextVersion() string {
	d.version++
	return fmt.Sprint(d.version)
}

// Get returns the entry of a code and whether it is dirty.
func (d *Dirty) Get(_ context.Context, ref push.Ref) (Entry, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, ok := d.entries[ref]
	return e, ok, nil
}

// List returns the entries after a code, by "tenant/code", at most limit.
func (d *Dirty) List(_ context.Context, after push.Ref, limit int) ([]Entry, error) {
	all := d.some(func(e Entry) bool { return after == (push.Ref{}) || byRef(e, Entry{Ref: after}) > 0 })
	slices.SortFunc(all, byRef)
	return all[:min(limit, len(all))], nil
}

// DueTenants returns the tenants that have an entry in a state whose time has come.
func (d *Dirty) DueTenants(_ context.Context, state push.DirtyState, now time.Time) ([]string, error) {
	tenants := map[string]bool{}
	for _, e := range d.some(func(e Entry) bool { return e.State == state && e.dueBy(now) }) {
		tenants[e.Tenant] = true
	}
	return slices.Sorted(maps.Keys(tenants)), nil
}

// DueOf returns the entries of a tenant in a state whose time has come, the
// earliest first.
func (d *Dirty) DueOf(_ context.Context, state push.DirtyState, tenant string, now time.Time, limit int) ([]Entry, error) {
	due := d.some(func(e Entry) bool { return e.State == state && e.Tenant == tenant && e.dueBy(now) })
	slices.SortFunc(due, func(a, b Entry) int { return cmp.Or(a.Due.Compare(b.Due), byRef(a, b)) })
	return due[:min(limit, len(due))], nil
}

// Unconfirmed returns the released entries that are to be looked at by now, the
// earliest first.
func (d *Dirty) Unconfirmed(_ context.Context, now time.Time, limit int) ([]Entry, error) {
	some := d.some(func(e Entry) bool { return !e.Confirm.IsZero() && !e.Confirm.After(now) })
	slices.SortFunc(some, func(a, b Entry) int { return cmp.Or(a.Confirm.Compare(b.Confirm), byRef(a, b)) })
	return some[:min(limit, len(some))], nil
}

func (e Entry) dueBy(now time.Time) bool { return !e.Due.IsZero() && !e.Due.After(now) }

// Release notes that the broker has the events of entries, each to be looked at
// by its Confirm.
func (d *Dirty) Release(_ context.Context, seen ...Entry) (int, error) {
	return d.change(seen, func(e *Entry, s Entry) {
		e.State, e.Due, e.Released, e.Confirm = push.DirtyReleased, time.Time{}, stored(d.clock.Now()), stored(s.Confirm)
		e.Attempts++
	})
}

// Defer puts the look at released entries off until their Confirm.
func (d *Dirty) Defer(_ context.Context, seen ...Entry) (int, error) {
	return d.change(seen, func(e *Entry, s Entry) { e.Confirm = stored(s.Confirm) })
}

// Repeat makes entries due again at their Due, as something to mend.
func (d *Dirty) Repeat(_ context.Context, seen ...Entry) (int, error) {
	return d.change(seen, func(e *Entry, s Entry) {
		e.State, e.Due, e.Confirm = push.DirtyRepair, stored(s.Due), time.Time{}
	})
}

// change edits the entries whose versions are still those seen.
func (d *Dirty) change(seen []Entry, edit func(e *Entry, s Entry)) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	changed := 0
	for _, s := range seen {
		d.writes++
		if e, ok := d.entries[s.Ref]; ok && e.Version == s.Version {
			edit(&e, s)
			e.Version = d.nextVersion()
			d.entries[s.Ref] = e
			changed++
		}
	}
	return changed, nil
}

// Postpone makes an entry due again at until, if its version is still seen.
func (d *Dirty) Postpone(_ context.Context, ref push.Ref, seen string, until time.Time) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, ok := d.entries[ref]
	if !ok || e.Version != seen {
		return false, nil
	}
	e.Due, e.Version = stored(until), d.nextVersion()
	e.Attempts++
	d.entries[ref] = e
	d.writes++
	return true, nil
}

// Remove takes codes out of the set whose versions are still those seen, and
// returns how many. Of an entry only Ref and Version count.
func (d *Dirty) Remove(_ context.Context, seen ...Entry) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	removed := 0
	for _, s := range seen {
		d.writes++
		if e, ok := d.entries[s.Ref]; ok && e.Version == s.Version {
			delete(d.entries, s.Ref)
			removed++
		}
	}
	return removed, nil
}

// Writes is how many documents were marked, postponed or asked to be removed.
func (d *Dirty) Writes() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.writes
}

// some returns the entries that are wanted, in no order.
func (d *Dirty) some(wanted func(Entry) bool) []Entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	var some []Entry
	for _, e := range d.entries {
		if wanted(e) {
			some = append(some, e)
		}
	}
	return some
}

func byRef(a, b Entry) int {
	return cmp.Compare(a.Tenant+"/"+a.Code, b.Tenant+"/"+b.Code)
}
