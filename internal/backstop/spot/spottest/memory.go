package spottest

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/rollcall-dev/rollcall/internal/backstop/spot"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Memory is a Store in memory. Its methods are safe for concurrent use.
type Memory struct {
	// Before may refuse an operation ("get", "put", "add"). Set it while nobody
	// uses the store.
	Before func(op string) error

	mu          sync.Mutex
	differences map[push.Ref]spot.Difference
	days        map[tenantDay]spot.Tally
}

type tenantDay struct {
	tenant string
	day    roster.Day
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{differences: map[push.Ref]spot.Difference{}, days: map[tenantDay]spot.Tally{}}
}

// Get returns what is stored of a code.
func (m *Memory) Get(ctx context.Context, ref push.Ref) (d spot.Difference, found bool, err error) {
	err = m.do(ctx, "get", func() {
		d, found = m.differences[ref]
		d = cloned(d)
	})
	return d, found, err
}

// Put stores a difference whose stored version is still d's.
func (m *Memory) Put(ctx context.Context, d spot.Difference) (done bool, err error) {
	err = m.do(ctx, "put", func() {
		if done = m.differences[d.Ref].Version == d.Version; done {
			d = cloned(d)
			d.Version++
			m.differences[d.Ref] = d
		}
	})
	return done, err
}

// Add adds to a tenant's day.
func (m *Memory) Add(ctx context.Context, tenant string, day roster.Day, tally spot.Tally) error {
	return m.do(ctx, "add", func() {
		key := tenantDay{tenant, day}
		m.days[key] = m.days[key].Plus(tally)
	})
}

// List returns a page of the differences.
func (m *Memory) List(ctx context.Context, which spot.Selection, limit int) (page []spot.Difference, err error) {
	err = m.do(ctx, "list", func() {
		for _, d := range m.differences {
			if which.Tenant != "" && d.Tenant != which.Tenant || which.State != "" && d.State != which.State {
				continue
			}
			if which.After == (push.Ref{}) || compareRefs(d.Ref, which.After) > 0 {
				page = append(page, cloned(d))
			}
		}
	})
	slices.SortFunc(page, func(a, b spot.Difference) int { return compareRefs(a.Ref, b.Ref) })
	return page[:min(len(page), max(limit, 1))], err
}

// Since yields the days from one on.
func (m *Memory) Since(ctx context.Context, tenant string, from roster.Day) iter.Seq2[spot.TenantDay, error] {
	return func(yield func(spot.TenantDay, error) bool) {
		var days map[tenantDay]spot.Tally
		if err := m.do(ctx, "since", func() { days = maps.Clone(m.days) }); err != nil {
			yield(spot.TenantDay{}, err)
			return
		}
		for key, tally := range days {
			if key.day < from || tenant != "" && key.tenant != tenant {
				continue
			}
			if !yield(spot.TenantDay{Tenant: key.tenant, Day: key.day, Tally: tally}, nil) {
				return
			}
		}
	}
}

// Total is what was counted of a tenant in all.
func (m *Memory) Total(tenant string) (total spot.Tally) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, tally := range m.days {
		if key.tenant == tenant {
			total = total.Plus(tally)
		}
	}
	return total
}

func (m *Memory) do(ctx context.Context, op string, effect func()) error {
	if m.Before != nil {
		if err := m.Before(op); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	effect()
	return nil
}

func cloned(d spot.Difference) spot.Difference {
	d.Ours, d.Theirs = clonedWay(d.Ours), clonedWay(d.Theirs)
	return d
}

func clonedWay(w spot.Way) spot.Way {
	w.Users, w.Departments = slices.Clone(w.Users), slices.Clone(w.Departments)
	return w
}

func compareRefs(a, b push.Ref) int {
	return cmp.Or(strings.Compare(a.Tenant, b.Tenant), strings.Compare(a.Code, b.Code))
}
