package pushtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// MaxIntents is how many intents a record keeps; beyond it the oldest goes.
const MaxIntents = 32

type staffKey struct{ tenant, staff string }

// Store is push.Store in memory.
type Store struct {
	Hooks
	// Order, when set, permutes the reads of the first wave (OpReadCode,
	// OpReadTenant, OpReadCounters, OpReadRecord): a real store answers them
	// in any order. Staff is always read last.
	Order func(reads []string)

	mu       sync.Mutex
	tenants  map[string]roster.Tenant
	staff    map[staffKey]roster.Staff
	codes    map[string]roster.Code
	counters map[string]roster.Counters
	records  map[push.Ref]push.Record
	taken    map[push.Ref]Change // by the keeper, and not finished yet
	takes    int
}

var _ push.Store = (*Store)(nil)

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{
		tenants:  map[string]roster.Tenant{},
		staff:    map[staffKey]roster.Staff{},
		codes:    map[string]roster.Code{},
		counters: map[string]roster.Counters{},
		records:  map[push.Ref]push.Record{},
		taken:    map[push.Ref]Change{},
	}
}

// Load reads the documents one by one, each after its own Step.
func (s *Store) Load(ctx context.Context, ref push.Ref) (roster.Facts, push.Record, error) {
	read := snapshot{ref: ref}
	reads := []string{OpReadRecord, OpReadCode, OpReadCounters, OpReadTenant}
	if err := s.read(ctx, &read, reads); err != nil {
		return roster.Facts{}, push.Record{}, err
	}
	return read.facts, read.record, nil
}

// Facts is Load without the record.
func (s *Store) Facts(ctx context.Context, ref push.Ref) (roster.Facts, error) {
	read := snapshot{ref: ref}
	reads := []string{OpReadCode, OpReadCounters, OpReadTenant}
	if err := s.read(ctx, &read, reads); err != nil {
		return roster.Facts{}, err
	}
	return read.facts, nil
}

// snapshot is what a Load has read so far.
type snapshot struct {
	ref       push.Ref
	facts     roster.Facts
	record    push.Record
	hasCode   bool
	hasTenant bool
}

func (s *Store) read(ctx context.Context, into *snapshot, reads []string) error {
	if s.Order != nil {
		s.Order(reads)
	}
	for _, op := range reads {
		if err := s.do(ctx, op, func() { s.readOne(into, op) }); err != nil {
			return err
		}
	}
	switch {
	case !into.hasCode:
		return fmt.Errorf("code %s: %w", into.ref.Code, push.ErrUnknownCode)
	case into.facts.Code.Tenant != into.ref.Tenant:
		return fmt.Errorf("code %s of tenant %s: %w", into.ref.Code, into.ref.Tenant, push.ErrWrongTenant)
	case !into.hasTenant:
		return fmt.Errorf("tenant %s: %w", into.ref.Tenant, push.ErrUnknownTenant)
	}
	return s.do(ctx, OpReadStaff, func() { s.readStaff(into) })
}

func (s *Store) readOne(into *snapshot, op string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch op {
	case OpReadRecord:
		into.record = s.recordOf(into.ref)
	case OpReadCounters:
		into.facts.Counters = cloneCounters(s.counters[into.ref.Code])
	case OpReadTenant:
		tenant, ok := s.tenants[into.ref.Tenant]
		into.facts.Tenant, into.hasTenant = cloneTenant(tenant), ok
	case OpReadCode:
		code, ok := s.codes[into.ref.Code]
		into.facts.Code, into.hasCode = cloneCode(code), ok
	}
}

func (s *Store) readStaff(into *snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	into.facts.Staff = map[string]roster.Staff{}
	for _, id := range listed(into.facts) {
		if staff, ok := s.staff[staffKey{into.ref.Tenant, id}]; ok {
			into.facts.Staff[id] = cloneStaff(staff)
		}
	}
}

// listed returns the staff a verdict on the facts may need: members, backups
// and, where the code's policy names it, the tenant's fallback.
func listed(facts roster.Facts) []string {
	var ids []string
	for _, m := range facts.Code.Members {
		ids = append(ids, m.Staff)
	}
	ids = append(ids, facts.Code.Backups...)
	if facts.Code.OnEmpty == roster.TenantFallback {
		ids = append(ids, facts.Tenant.Fallback...)
	}
	return ids
}

func (s *Store) recordOf(ref push.Ref) push.Record {
	record, ok := s.records[ref]
	if !ok {
		return push.Record{Code: ref.Code}
	}
	return cloneRecord(record)
}

// Begin opens an intent if the epoch is still seen.
func (s *Store) Begin(ctx context.Context, ref push.Ref, seen int64, intent push.Intent) (bool, error) {
	return s.change(ctx, OpBegin, ref, func(r *push.Record) bool {
		if r.Epoch != seen || intent.Epoch != seen+1 {
			return false
		}
		r.Epoch = intent.Epoch
		r.Intents = append(r.Intents, intent)
		r.Intents = r.Intents[max(0, len(r.Intents)-MaxIntents):]
		return true
	})
}

// Drop removes one intent.
func (s *Store) Drop(ctx context.Context, ref push.Ref, epoch int64) error {
	_, err := s.change(ctx, OpDrop, ref, func(r *push.Record) bool {
		r.Intents = without(r.Intents, []int64{epoch})
		return true
	})
	return err
}

// Commit sets the committed list if the epoch is still committed.Epoch.
func (s *Store) Commit(ctx context.Context, ref push.Ref, committed push.Committed, settled []int64, next time.Time) (bool, error) {
	return s.change(ctx, OpCommit, ref, func(r *push.Record) bool {
		if r.Epoch != committed.Epoch {
			return false
		}
		r.Committed = committed
		r.Failure = push.Failure{}
		r.Intents = without(r.Intents, settled)
		expect(r, next)
		return true
	})
}

// ExpectChange brings the next change forward.
func (s *Store) ExpectChange(ctx context.Context, ref push.Ref, at time.Time) error {
	_, err := s.change(ctx, OpExpectChange, ref, func(r *push.Record) bool {
		expect(r, at)
		return true
	})
	return err
}

func expect(r *push.Record, at time.Time) {
	if !r.Expects(at) {
		r.NextChange = at
	}
}

// SetFailure replaces the failure.
func (s *Store) SetFailure(ctx context.Context, ref push.Ref, failure push.Failure) error {
	_, err := s.change(ctx, OpSetFailure, ref, func(r *push.Record) bool {
		r.Failure = failure
		return true
	})
	return err
}

func (s *Store) change(ctx context.Context, op string, ref push.Ref, edit func(*push.Record) bool) (bool, error) {
	changed := false
	err := s.do(ctx, op, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		record := s.recordOf(ref)
		if changed = edit(&record); changed {
			s.records[ref] = cloneRecord(record)
		}
	})
	return changed && err == nil, err
}

func without(intents []push.Intent, epochs []int64) []push.Intent {
	return slices.DeleteFunc(intents, func(i push.Intent) bool { return slices.Contains(epochs, i.Epoch) })
}

// AdvanceRound moves the counters to the next round.
func (s *Store) AdvanceRound(ctx context.Context, ref push.Ref, from int64) (bool, error) {
	advanced := false
	err := s.do(ctx, OpAdvanceRound, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		counters := cloneCounters(s.counters[ref.Code])
		if counters.Round != from {
			return
		}
		counters.Round, counters.InRound = from+1, nil
		s.counters[ref.Code], advanced = counters, true
	})
	return advanced && err == nil, err
}

// MarkDeleted marks the code deleted and closes the record's intents and
// failure: nothing is left to finish.
func (s *Store) MarkDeleted(ctx context.Context, ref push.Ref, _ time.Time) error {
	found := false
	err := s.do(ctx, OpMarkDeleted, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		code, ok := s.codes[ref.Code]
		if found = ok && code.Tenant == ref.Tenant; !found {
			return
		}
		code.Deleted = true
		s.codes[ref.Code] = code
		if record, ok := s.records[ref]; ok {
			record.Intents, record.Failure, record.NextChange = nil, push.Failure{}, time.Time{}
			s.records[ref] = record
		}
	})
	if err == nil && !found {
		err = fmt.Errorf("mark code %s deleted: %w", ref.Code, push.ErrUnknownCode)
	}
	return err
}
