package quotatest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Names of the operations as the hooks see them.
const (
	OpTenant        = "facts.tenant"
	OpCode          = "facts.code"
	OpCodeWith      = "facts.code_with"
	OpContact       = "contacts.contact"
	OpPut           = "contacts.put"
	OpOpen          = "contacts.open"
	OpDone          = "contacts.done"
	OpCountCode     = "counters.count.code"
	OpCountStaff    = "counters.count.staff"
	OpForgetCodes   = "counters.forget.codes"
	OpForgetStaff   = "counters.forget.staff"
	OpMarkRemoved   = "staff.mark_removed"
	OpCopy          = "staff.apply.copy"
	OpApply         = "staff.apply"
	OpEndQuarantine = "staff.apply.end_quarantine"
)

// Store is quota.Facts, Contacts, Counters and Staff in memory. Like a real one
// it keeps milliseconds, and shares no memory with who writes and reads.
type Store struct {
	fanouttest.Hooks
	// StaffFirst, when set, says of a count whether the staff member's document
	// comes ahead of the code's: a real store writes them in any order.
	StaffFirst func() bool
	// Now is the store's clock.
	Now func() time.Time

	mu       sync.Mutex
	tenants  map[string]roster.Tenant
	codes    map[string]roster.Code
	counters map[string]*counters
	staff    map[member]*person
	contacts map[quota.Pair]quota.Contact
}

var (
	_ quota.Facts    = (*Store)(nil)
	_ quota.Contacts = (*Store)(nil)
	_ quota.Counters = (*Store)(nil)
	_ quota.Staff    = (*Store)(nil)
)

// member is a staff member of a tenant.
type member struct{ tenant, staff string }

// counters are those of a code, with the additions that they remember.
type counters struct {
	roster.Counters
	counted map[string]bool
}

// person is what is known of a staff member.
type person struct {
	roster.Staff
	counted   map[string]bool
	removedBy string
	toldAt    time.Time
}

// NewStore returns an empty store with a clock.
func NewStore(now func() time.Time) *Store {
	return &Store{
		Now:      now,
		tenants:  map[string]roster.Tenant{},
		codes:    map[string]roster.Code{},
		counters: map[string]*counters{},
		staff:    map[member]*person{},
		contacts: map[quota.Pair]quota.Contact{},
	}
}

// Tenant returns a tenant.
func (s *Store) Tenant(ctx context.Context, id string) (roster.Tenant, error) {
	var tenant roster.Tenant
	known := false
	err := s.locked(ctx, OpTenant, func() { tenant, known = s.tenants[id] })
	if err == nil && !known {
		err = fmt.Errorf("tenant %s: %w", id, quota.ErrUnknownTenant)
	}
	return tenant, err
}

// Code returns a code of a tenant.
func (s *Store) Code(ctx context.Context, ref push.Ref) (roster.Code, error) {
	var code roster.Code
	err := s.locked(ctx, OpCode, func() { code = s.codes[ref.Code] })
	if err != nil || code.Tenant != ref.Tenant {
		return roster.Code{}, err
	}
	return code, nil
}

// CodeWith returns the code of a state: the one whose ID it is, else the one
// with the least ID.
func (s *Store) CodeWith(ctx context.Context, tenant, state string) (roster.Code, bool, error) {
	var found roster.Code
	err := s.locked(ctx, OpCodeWith, func() {
		for id, code := range s.codes {
			if code.Tenant == tenant && code.State == state && (found.ID == "" || id == state || found.ID != state && id < found.ID) {
				found = code
			}
		}
	})
	if err != nil {
		return roster.Code{}, false, err
	}
	return found, found.ID != "", nil
}

// locked runs one operation between its hooks, its effect under the lock.
func (s *Store) locked(ctx context.Context, op string, effect func()) error {
	return s.Do(ctx, op, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		effect()
	})
}

// What producers do: these methods run no hook and cannot fail.

// PutTenant writes a tenant.
func (s *Store) PutTenant(tenant roster.Tenant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tenants[tenant.ID] = tenant
}

// PutCode writes a code.
func (s *Store) PutCode(code roster.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	code.Members, code.Backups = slices.Clone(code.Members), slices.Clone(code.Backups)
	s.codes[code.ID] = code
}

// RemoveCode forgets a code.
func (s *Store) RemoveCode(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.codes, id)
}

// PutStaff writes staff members. What is counted of them stays.
func (s *Store) PutStaff(tenant string, staff ...roster.Staff) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range staff {
		key := member{tenant, one.ID}
		if s.staff[key] == nil {
			s.staff[key] = &person{counted: map[string]bool{}}
		}
		one.Added = s.staff[key].Added
		s.staff[key].Staff = one
	}
}

// Quarantine leaves a staff member out whom WeCom refuses on a list, and never
// for less than before.
func (s *Store) Quarantine(tenant, staff string, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	who := s.staff[member{tenant, staff}]
	if until = stored(until); until.After(who.QuarantinedUntil) {
		who.QuarantinedUntil = until
	}
}

// Facts returns what the refresher would read of a code and of the staff of its
// tenant.
func (s *Store) Facts(ref push.Ref) roster.Facts {
	s.mu.Lock()
	defer s.mu.Unlock()
	facts := roster.Facts{Code: s.codes[ref.Code], Tenant: s.tenants[ref.Tenant], Staff: map[string]roster.Staff{}}
	if c := s.counters[ref.Code]; c != nil {
		facts.Counters = cloneCounters(c.Counters)
	}
	for key, who := range s.staff {
		if key.tenant == ref.Tenant {
			staff := who.Staff
			staff.Added = maps.Clone(staff.Added)
			facts.Staff[key.staff] = staff
		}
	}
	return facts
}

// Remembered is how many additions the counters remember, on codes and on
// staff.
func (s *Store) Remembered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, c := range s.counters {
		n += len(c.counted)
	}
	for _, who := range s.staff {
		n += len(who.counted)
	}
	return n
}

func cloneCounters(c roster.Counters) roster.Counters {
	c.Total, c.InRound, c.Days = maps.Clone(c.Total), maps.Clone(c.InRound), maps.Clone(c.Days)
	for day, counts := range c.Days {
		c.Days[day] = maps.Clone(counts)
	}
	return c
}

func stored(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}
