package waytest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Store is contactway.Rows and contactway.Codes in memory.
type Store struct {
	mu    sync.Mutex
	rows  map[contactway.Key]contactway.Row
	facts map[push.Ref]roster.Facts
	qr    map[push.Ref]string
}

var (
	_ contactway.Rows  = (*Store)(nil)
	_ contactway.Codes = (*Store)(nil)
)

// NewStore returns a Store with nothing in it.
func NewStore() *Store {
	return &Store{
		rows:  map[contactway.Key]contactway.Row{},
		facts: map[push.Ref]roster.Facts{},
		qr:    map[push.Ref]string{},
	}
}

// PutFacts stores the facts of a code.
func (s *Store) PutFacts(facts roster.Facts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.facts[push.Ref{Tenant: facts.Code.Tenant, Code: facts.Code.ID}] = facts
}

// DeleteCode removes a code.
func (s *Store) DeleteCode(ref push.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.facts, ref)
}

// Rows returns all rows, in no order.
func (s *Store) Rows() []contactway.Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.rows))
}

// Get returns a row.
func (s *Store) Get(_ context.Context, key contactway.Key) (contactway.Row, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, found := s.rows[key]
	row.Spare = slices.Clone(row.Spare)
	return row, found, nil
}

// Insert stores a row that is not there.
func (s *Store) Insert(_ context.Context, row contactway.Row) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, found := s.rows[row.Key]; found {
		return false, nil
	}
	row.Version = 1
	s.put(row)
	return true, nil
}

// Replace stores a row that is still the one that was read.
func (s *Store) Replace(_ context.Context, row contactway.Row) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.still(row) {
		return false, nil
	}
	row.Version++
	s.put(row)
	return true, nil
}

// Remove deletes a row that is still the one that was read.
func (s *Store) Remove(_ context.Context, row contactway.Row) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.still(row) {
		return false, nil
	}
	delete(s.rows, row.Key)
	return true, nil
}

func (s *Store) put(row contactway.Row) {
	row.Spare = slices.Clone(row.Spare)
	s.rows[row.Key] = row
}

func (s *Store) still(row contactway.Row) bool {
	stored, found := s.rows[row.Key]
	return found && stored.Version == row.Version && stored.Marker == row.Marker
}

// DueTenants returns the tenants with rows that are due.
func (s *Store) DueTenants(_ context.Context, now time.Time) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var tenants []string
	for _, row := range s.rows {
		if due(row, now) {
			tenants = append(tenants, row.Tenant)
		}
	}
	slices.Sort(tenants)
	return slices.Compact(tenants), nil
}

// Due returns a tenant's rows that are due.
func (s *Store) Due(_ context.Context, tenant string, now time.Time, limit int) ([]contactway.Row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var rows []contactway.Row
	for _, row := range s.rows {
		if row.Tenant == tenant && due(row, now) {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b contactway.Row) int {
		return cmp.Or(a.NotBefore.Compare(b.NotBefore), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Staff, b.Staff))
	})
	return rows[:min(len(rows), limit)], nil
}

func due(row contactway.Row, now time.Time) bool {
	return !row.Settled() && !row.NotBefore.After(now)
}

// Facts returns the facts of a code.
func (s *Store) Facts(_ context.Context, ref push.Ref) (roster.Facts, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	facts, found := s.facts[ref]
	if !found {
		return roster.Facts{}, push.ErrUnknownCode
	}
	return facts, nil
}

// Held returns the contact way that a code has.
func (s *Store) Held(_ context.Context, ref push.Ref) (contactway.Held, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	facts, found := s.facts[ref]
	if !found {
		return contactway.Held{}, push.ErrUnknownCode
	}
	return contactway.Held{ConfigID: facts.Code.ConfigID, QRCode: s.qr[ref]}, nil
}

// Give stores a contact way into a code that has none.
func (s *Store) Give(_ context.Context, ref push.Ref, way contactway.Way) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	facts, found := s.facts[ref]
	switch {
	case !found:
		return false, nil
	case facts.Code.ConfigID == way.ConfigID:
	case facts.Code.ConfigID != "" || facts.Code.Deleted:
		return false, nil
	}
	facts.Code.ConfigID = way.ConfigID
	facts.Code.State = cmp.Or(facts.Code.State, way.State)
	s.facts[ref], s.qr[ref] = facts, way.QRCode
	return true, nil
}

// HolderOf returns the code that has a contact way.
func (s *Store) HolderOf(_ context.Context, tenant, configID string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ref, facts := range s.facts {
		if ref.Tenant == tenant && facts.Code.ConfigID == configID {
			return ref.Code, nil
		}
	}
	return "", nil
}
