package pushtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// Change is a code whose next change has come, as the keeper took it.
type Change struct {
	push.Ref
	At      time.Time // when it came, or until when it was put off
	Version string    // of this taking, never used twice
}

// Changes are the next changes of a Store's records, as the keeper sees them.
type Changes struct{ store *Store }

// Changes returns the keeper's view of the records.
func (s *Store) Changes() *Changes { return &Changes{store: s} }

// DueTenants returns the tenants that have a change to take at now, or one that
// was taken and not finished.
func (c *Changes) DueTenants(_ context.Context, now time.Time) ([]string, error) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	tenants := map[string]bool{}
	for ref, change := range c.store.taken {
		if !change.At.After(now) {
			tenants[ref.Tenant] = true
		}
	}
	for ref, record := range c.store.records {
		if isDue(record, now) {
			tenants[ref.Tenant] = true
		}
	}
	return slices.Sorted(maps.Keys(tenants)), nil
}

// Take returns at most limit changes of a tenant: first those that were taken
// and not finished, then those that are due, the earliest first. It moves the
// latter out of the refreshers' sight before it returns.
func (c *Changes) Take(_ context.Context, tenant string, now time.Time, limit int) ([]Change, error) {
	changes := c.Find(tenant, now, limit)
	for i, found := range changes {
		if found.Version == "" {
			changes[i] = c.TakeOne(found)
		}
	}
	return changes, nil
}

// Find returns what Take takes; a change without a version is still to be
// taken.
func (c *Changes) Find(tenant string, now time.Time, limit int) []Change {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	var left, due []Change
	for ref, change := range c.store.taken {
		if ref.Tenant == tenant && !change.At.After(now) {
			left = append(left, change)
		}
	}
	for ref, record := range c.store.records {
		if ref.Tenant == tenant && isDue(record, now) {
			due = append(due, Change{Ref: ref, At: record.NextChange})
		}
	}
	slices.SortFunc(left, byInstant)
	slices.SortFunc(due, byInstant)
	all := slices.Concat(left, due)
	return all[:min(limit, len(all))]
}

// TakeOne takes a change that was found, unless the record expects another
// instant by now.
func (c *Changes) TakeOne(found Change) Change {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	c.store.takes++
	found.Version = fmt.Sprint(c.store.takes)
	record := c.store.recordOf(found.Ref)
	if record.NextChange.Equal(found.At) {
		record.NextChange = time.Time{}
		c.store.records[found.Ref] = record
		c.store.taken[found.Ref] = found
	}
	return found
}

// Taken reports whether a change of a code was taken and not finished.
func (c *Changes) Taken(ref push.Ref) bool {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	_, taken := c.store.taken[ref]
	return taken
}

// Finish forgets changes whose events are stored, unless they were taken again
// since, and returns how many. Of a Change only Ref and Version count.
func (c *Changes) Finish(_ context.Context, changes ...Change) (int, error) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	finished := 0
	for _, change := range changes {
		if taken, ok := c.store.taken[change.Ref]; ok && taken.Version == change.Version {
			delete(c.store.taken, change.Ref)
			finished++
		}
	}
	return finished, nil
}

// Postpone puts a taken change off, if it was not taken again since.
func (c *Changes) Postpone(_ context.Context, change Change, until time.Time) (bool, error) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	taken, ok := c.store.taken[change.Ref]
	if !ok || taken.Version != change.Version {
		return false, nil
	}
	c.store.takes++
	taken.At, taken.Version = stored(until), fmt.Sprint(c.store.takes)
	c.store.taken[change.Ref] = taken
	return true, nil
}

func isDue(record push.Record, now time.Time) bool {
	return !record.NextChange.IsZero() && !record.NextChange.After(stored(now))
}

func byInstant(a, b Change) int {
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Code, b.Code))
}
