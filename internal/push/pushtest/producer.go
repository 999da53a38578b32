package pushtest

import (
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// What producers do: they write facts. These methods run no hook and cannot
// fail; each is atomic.

// PutTenant writes a tenant. Its suspension is not a producer's to write.
func (s *Store) PutTenant(tenant roster.Tenant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tenant.Suspension = s.tenants[tenant.ID].Suspension
	s.tenants[tenant.ID] = cloneTenant(tenant)
}

// PutStaff writes staff members of a tenant.
func (s *Store) PutStaff(tenant string, staff ...roster.Staff) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range staff {
		s.staff[staffKey{tenant, one.ID}] = cloneStaff(one)
	}
}

// PutCode writes a code.
func (s *Store) PutCode(code roster.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codes[code.ID] = cloneCode(code)
}

// PutCounters replaces the counters of a code.
func (s *Store) PutCounters(code string, counters roster.Counters) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counters[code] = cloneCounters(counters)
}

// EditTenant changes a tenant in place. A tenant that is not there is created.
func (s *Store) EditTenant(id string, edit func(*roster.Tenant)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tenant := cloneTenant(s.tenants[id])
	tenant.ID = id
	edit(&tenant)
	s.tenants[id] = cloneTenant(tenant)
}

// EditStaff changes a staff member in place. One who is not there is created.
func (s *Store) EditStaff(tenant, id string, edit func(*roster.Staff)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	staff := cloneStaff(s.staff[staffKey{tenant, id}])
	staff.ID = id
	edit(&staff)
	s.staff[staffKey{tenant, id}] = cloneStaff(staff)
}

// Staff returns a staff member; one who is not there is zero.
func (s *Store) Staff(tenant, id string) roster.Staff {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cloneStaff(s.staff[staffKey{tenant, id}])
}

// EditCode changes a code in place and raises its revision, as every edit of a
// producer does. A code that is not there is created.
func (s *Store) EditCode(id string, edit func(*roster.Code)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	code := cloneCode(s.codes[id])
	code.ID = id
	code.Revision++
	edit(&code)
	s.codes[id] = cloneCode(code)
}

// RemoveCode forgets a code.
func (s *Store) RemoveCode(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.codes, id)
}

// CountAddition counts one customer that a staff member got through a code:
// in all, on the day, in the round, and company-wide.
func (s *Store) CountAddition(ref push.Ref, staff string, day roster.Day) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := cloneCounters(s.counters[ref.Code])
	c.Total = added(c.Total, staff)
	c.InRound = added(c.InRound, staff)
	if c.Days == nil {
		c.Days = map[roster.Day]map[string]int{}
	}
	c.Days[day] = added(c.Days[day], staff)
	s.counters[ref.Code] = c

	key := staffKey{ref.Tenant, staff}
	who := cloneStaff(s.staff[key])
	who.ID = staff
	who.Added = added(who.Added, day)
	s.staff[key] = who
}

func added[K comparable](counts map[K]int, key K) map[K]int {
	if counts == nil {
		counts = map[K]int{}
	}
	counts[key]++
	return counts
}

// Record returns the record of a code; one that was never pushed has the zero
// Record with Code set.
func (s *Store) Record(ref push.Ref) push.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recordOf(ref)
}

// PutRecord replaces the record of a code.
func (s *Store) PutRecord(ref push.Ref, record push.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	record.Code = ref.Code
	s.records[ref] = cloneRecord(record)
}

// Records returns every record, by code.
func (s *Store) Records() map[push.Ref]push.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[push.Ref]push.Record, len(s.records))
	for ref, record := range s.records {
		all[ref] = cloneRecord(record)
	}
	return all
}

// Peek returns the facts of a code as they are now, without a hook: what a
// simulation compares the end of a run with. Unknown parts are zero.
func (s *Store) Peek(ref push.Ref) roster.Facts {
	read := snapshot{ref: ref}
	for _, op := range []string{OpReadCode, OpReadTenant, OpReadCounters} {
		s.readOne(&read, op)
	}
	s.readStaff(&read)
	return read.facts
}
