package pushtest

import (
	"cmp"
	"context"
	"fmt"
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
	Due       time.Time       // the earliest of the marks, or the claim
	FirstSeen time.Time
	LastSeen  time.Time
	Count     int    // marks
	Attempts  int    // claims
	Version   string // another one after every mark and claim, never used twice
}

// Dirty is push.Dirty in memory, with what a keeper does to it.
type Dirty struct {
	Hooks

	clock   *Clock
	mu      sync.Mutex
	version int64
	entries map[push.Ref]Entry
}

var _ push.Dirty = (*Dirty)(nil)

// NewDirty returns an empty dirty set that takes its time from clock.
func NewDirty(clock *Clock) *Dirty {
	return &Dirty{clock: clock, entries: map[push.Ref]Entry{}}
}

// Mark makes a code dirty, or adds to what is known of a dirty one.
func (d *Dirty) Mark(ctx context.Context, mark push.Mark) error {
	return d.do(ctx, OpMark, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		now, due := stored(d.clock.Now()), stored(mark.Due)
		e, known := d.entries[mark.Ref]
		if !known {
			e = Entry{Ref: mark.Ref, FirstSeen: now, Due: due}
		}
		if !slices.Contains(e.Reasons, mark.Reason) {
			e.Reasons = append(slices.Clone(e.Reasons), mark.Reason)
		}
		if due.Before(e.Due) {
			e.Due = due
		}
		e.Detail, e.LastSeen = mark.Detail, now
		e.Count++
		e.Version = d.nextVersion()
		d.entries[mark.Ref] = e
	})
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
	all := d.sorted(byRef)
	if after != (push.Ref{}) {
		all = slices.DeleteFunc(all, func(e Entry) bool { return byRef(e, Entry{Ref: after}) <= 0 })
	}
	return all[:min(limit, len(all))], nil
}

// Due returns the entries whose time has come, the earliest first.
func (d *Dirty) Due(_ context.Context, now time.Time, limit int) ([]Entry, error) {
	all := d.sorted(func(a, b Entry) int { return cmp.Or(a.Due.Compare(b.Due), byRef(a, b)) })
	all = slices.DeleteFunc(all, func(e Entry) bool { return e.Due.After(now) })
	return all[:min(limit, len(all))], nil
}

// Claim takes an entry until then, if its version is still seen, and returns
// the new version.
func (d *Dirty) Claim(_ context.Context, ref push.Ref, seen string, until time.Time) (string, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, ok := d.entries[ref]
	if !ok || e.Version != seen {
		return "", false, nil
	}
	e.Due, e.Version = stored(until), d.nextVersion()
	e.Attempts++
	d.entries[ref] = e
	return e.Version, true, nil
}

// Remove takes a code out of the set, if its version is still seen.
func (d *Dirty) Remove(_ context.Context, ref push.Ref, seen string) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e, ok := d.entries[ref]; !ok || e.Version != seen {
		return false, nil
	}
	delete(d.entries, ref)
	return true, nil
}

func (d *Dirty) sorted(order func(a, b Entry) int) []Entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]Entry, 0, len(d.entries))
	for _, e := range d.entries {
		all = append(all, e)
	}
	slices.SortFunc(all, order)
	return all
}

func byRef(a, b Entry) int {
	return cmp.Compare(a.Tenant+"/"+a.Code, b.Tenant+"/"+b.Code)
}
