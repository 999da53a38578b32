package notifytest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Store is all that is kept of deliveries.
type Store interface {
	notify.Ledger
	notify.Queue
	notify.Shelf
	notify.Pools
	notify.Archive
}

// Memory is a Store in memory. Its methods are safe for concurrent use.
type Memory struct {
	mu    sync.Mutex
	rows  map[key]notify.Delivery
	pools map[poolKey][]string
}

type key struct{ tenant, id string }

type poolKey struct {
	tenant string
	day    roster.Day
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{rows: map[key]notify.Delivery{}, pools: map[poolKey][]string{}}
}

// Create stores a row unless it is there.
func (m *Memory) Create(ctx context.Context, row notify.Delivery) (bool, error) {
	defer m.lock()()
	at := key{row.Notice.Tenant, row.ID}
	if _, taken := m.rows[at]; taken || ctx.Err() != nil {
		return false, ctx.Err()
	}
	m.rows[at] = row
	return true, nil
}

// Move changes a row that is still as seen.
func (m *Memory) Move(ctx context.Context, seen notify.Delivery, next notify.Progress) (bool, error) {
	defer m.lock()()
	at := key{seen.Notice.Tenant, seen.ID}
	row, found := m.rows[at]
	if ctx.Err() != nil || !found || row.State != seen.State || row.Attempt != seen.Attempt || row.Owner != seen.Owner {
		return false, ctx.Err()
	}
	row.Progress = next
	m.rows[at] = row
	return true, nil
}

// DueLanes returns the lanes with something due.
func (m *Memory) DueLanes(ctx context.Context, now time.Time) ([]notify.Lane, error) {
	defer m.lock()()
	var lanes []notify.Lane
	for _, row := range m.rows {
		if due(row, now) && !slices.Contains(lanes, row.Lane()) {
			lanes = append(lanes, row.Lane())
		}
	}
	return lanes, ctx.Err()
}

// Due returns what is due of a lane.
func (m *Memory) Due(ctx context.Context, lane notify.Lane, now time.Time, limit int) ([]notify.Delivery, error) {
	defer m.lock()()
	rows := m.where(func(row notify.Delivery) bool { return row.Lane() == lane && due(row, now) })
	slices.SortStableFunc(rows, func(a, b notify.Delivery) int { return a.Due.Compare(b.Due) })
	return rows[:min(len(rows), max(limit, 1))], ctx.Err()
}

// HeldTenants returns the tenants with a held row.
func (m *Memory) HeldTenants(ctx context.Context) ([]string, error) {
	defer m.lock()()
	var tenants []string
	for _, row := range m.where(held) {
		tenants = append(tenants, row.Notice.Tenant)
	}
	return slices.Compact(tenants), ctx.Err()
}

// Held returns held rows of a tenant.
func (m *Memory) Held(ctx context.Context, tenant string, limit int) ([]notify.Delivery, error) {
	defer m.lock()()
	rows := m.where(func(row notify.Delivery) bool { return held(row) && row.Notice.Tenant == tenant })
	slices.SortStableFunc(rows, func(a, b notify.Delivery) int { return a.FiledAt.Compare(b.FiledAt) })
	return rows[:min(len(rows), max(limit, 1))], ctx.Err()
}

// Debit takes one delivery from a pool.
func (m *Memory) Debit(ctx context.Context, tenant string, day roster.Day, id string, limit int) (bool, error) {
	defer m.lock()()
	at := poolKey{tenant, day}
	paid := slices.Contains(m.pools[at], id)
	if ctx.Err() != nil || paid || len(m.pools[at]) >= limit {
		return paid, ctx.Err()
	}
	m.pools[at] = append(m.pools[at], id)
	return true, nil
}

// Spent returns how much of a pool is taken.
func (m *Memory) Spent(ctx context.Context, tenant string, day roster.Day) (int, error) {
	defer m.lock()()
	return len(m.pools[poolKey{tenant, day}]), ctx.Err()
}

// Paid returns the days whose pools paid for a delivery.
func (m *Memory) Paid(tenant, id string) []roster.Day {
	defer m.lock()()
	var days []roster.Day
	for at, ids := range m.pools {
		if at.tenant == tenant && slices.Contains(ids, id) {
			days = append(days, at.day)
		}
	}
	return days
}

// Get returns a row.
func (m *Memory) Get(ctx context.Context, tenant, id string) (notify.Delivery, bool, error) {
	defer m.lock()()
	row, found := m.rows[key{tenant, id}]
	return row, found, ctx.Err()
}

// List returns rows by tenant and ID.
func (m *Memory) List(ctx context.Context, which notify.Selection, limit int) ([]notify.Delivery, error) {
	defer m.lock()()
	rows := m.where(func(row notify.Delivery) bool {
		return (which.Tenant == "" || row.Notice.Tenant == which.Tenant) &&
			(which.State == "" || row.State == which.State) &&
			compare(row, which.AfterTenant, which.AfterID) > 0
	})
	return rows[:min(len(rows), max(limit, 1))], ctx.Err()
}

// Backlog looks at what is not at its end.
func (m *Memory) Backlog(ctx context.Context) (notify.Backlog, error) {
	defer m.lock()()
	var b notify.Backlog
	for _, row := range m.rows {
		switch {
		case held(row):
			b.Held++
		case open(row) && (b.Oldest.IsZero() || row.FiledAt.Before(b.Oldest)):
			b.Oldest = row.FiledAt
		}
	}
	return b, ctx.Err()
}

// Prune removes what ended before an instant.
func (m *Memory) Prune(ctx context.Context, before time.Time) (int, error) {
	defer m.lock()()
	removed := 0
	for at, row := range m.rows {
		if !open(row) && !held(row) && row.At.Before(before) {
			delete(m.rows, at)
			removed++
		}
	}
	for at := range m.pools {
		if at.day < notify.FirstOpenDay(before) {
			delete(m.pools, at)
		}
	}
	return removed, ctx.Err()
}

// where returns rows by tenant and ID.
func (m *Memory) where(is func(notify.Delivery) bool) []notify.Delivery {
	var rows []notify.Delivery
	for _, row := range m.rows {
		if is(row) {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b notify.Delivery) int { return compare(a, b.Notice.Tenant, b.ID) })
	return rows
}

func compare(row notify.Delivery, tenant, id string) int {
	return strings.Compare(row.Notice.Tenant+"/"+row.ID, tenant+"/"+id)
}

func (m *Memory) lock() (unlock func()) {
	m.mu.Lock()
	return m.mu.Unlock
}

func open(row notify.Delivery) bool { return !row.Due.IsZero() }

func due(row notify.Delivery, now time.Time) bool { return open(row) && !row.Due.After(now) }

func held(row notify.Delivery) bool { return row.State == notify.Held }
