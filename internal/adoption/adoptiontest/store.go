package adoptiontest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adoption"
	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Store is adoption.Jobs and adoption.Facts in memory. Like a real one it keeps
// milliseconds.
type Store struct {
	fanouttest.Hooks

	mu     sync.Mutex
	jobs   map[string]adoption.Job
	rows   map[rowKey]storedRow
	shadow map[string]bool             // by tenant
	staff  map[push.Ref]bool           // by tenant and staff ID
	codes  map[string]adoption.NewCode // by ID, over all tenants
}

// madeAt is when every code of a Store was made.
var madeAt = time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC)

type rowKey struct {
	tenant, run string
	seq         int
}

type storedRow struct {
	adoption.Row
	token int64
}

var (
	_ adoption.Jobs  = (*Store)(nil)
	_ adoption.Facts = (*Store)(nil)
)

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{
		jobs: map[string]adoption.Job{}, rows: map[rowKey]storedRow{},
		shadow: map[string]bool{}, staff: map[push.Ref]bool{}, codes: map[string]adoption.NewCode{},
	}
}

// PutTenant puts a live tenant there, as another producer would.
func (s *Store) PutTenant(tenant string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shadow[tenant] = false
}

// PutCode puts a code there, as another producer would.
func (s *Store) PutCode(code adoption.NewCode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codes[code.ID] = code
}

// Codes returns all codes, in no order.
func (s *Store) Codes() []adoption.NewCode {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.codes))
}

// Stored returns a code with its staff, and the address of its QR code.
func (s *Store) Stored(tenant, code string) (roster.Facts, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored := s.codes[code]
	facts := roster.Facts{Tenant: roster.Tenant{ID: tenant}, Code: stored.Code, Staff: map[string]roster.Staff{}}
	for _, member := range stored.Members {
		if s.staff[push.Ref{Tenant: tenant, Code: member.Staff}] {
			facts.Staff[member.Staff] = roster.Staff{ID: member.Staff}
		}
	}
	return facts, stored.QRCode
}

// do runs one operation with the lock held.
func (s *Store) do(ctx context.Context, op string, effect func()) error {
	return s.Do(ctx, op, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		effect()
	})
}

// Job returns a tenant's import.
func (s *Store) Job(ctx context.Context, tenant string) (job adoption.Job, found bool, err error) {
	err = s.do(ctx, "jobs.job", func() {
		job, found = s.jobs[tenant]
		job = job.Copy()
	})
	return job, found, err
}

// Take stores a job in the place of the one seen.
func (s *Store) Take(ctx context.Context, seen, job adoption.Job, now time.Time) (took bool, err error) {
	err = s.do(ctx, "jobs.take", func() {
		stored := s.jobs[job.Tenant]
		took = stored.Claim.Token == seen.Claim.Token && !stored.Claim.Until.After(now)
		if took {
			s.jobs[job.Tenant] = kept(job)
		}
	})
	return took && err == nil, err
}

// Save stores a job's progress.
func (s *Store) Save(ctx context.Context, job adoption.Job) (ours bool, err error) {
	err = s.do(ctx, "jobs.save", func() {
		stored, known := s.jobs[job.Tenant]
		ours = known && stored.Claim.Token == job.Claim.Token
		if ours {
			s.jobs[job.Tenant] = kept(job)
		}
	})
	return ours && err == nil, err
}

// Release ends a claim.
func (s *Store) Release(ctx context.Context, job adoption.Job) error {
	return s.do(ctx, "jobs.release", func() {
		if stored := s.jobs[job.Tenant]; stored.Claim.Token == job.Claim.Token {
			stored.Claim.Until = time.Time{}
			s.jobs[job.Tenant] = stored
		}
	})
}

// PutRow writes a row, or writes over the one that an earlier claim has left.
func (s *Store) PutRow(ctx context.Context, job adoption.Job, row adoption.Row) (ours bool, err error) {
	err = s.do(ctx, "jobs.put_row", func() {
		key := rowKey{job.Tenant, job.Run, row.Seq}
		ours = s.rows[key].token <= job.Claim.Token
		if ours {
			row.IDs, row.Left = slices.Clone(row.IDs), slices.Clone(row.Left)
			s.rows[key] = storedRow{row, job.Claim.Token}
		}
	})
	return ours && err == nil, err
}

// Row returns a row.
func (s *Store) Row(ctx context.Context, job adoption.Job, seq int) (row adoption.Row, found bool, err error) {
	err = s.do(ctx, "jobs.row", func() {
		var stored storedRow
		stored, found = s.rows[rowKey{job.Tenant, job.Run, seq}]
		row = stored.Row
		row.Left = slices.Clone(row.Left)
	})
	return row, found, err
}

// Clear removes the rows of other runs.
func (s *Store) Clear(ctx context.Context, job adoption.Job) error {
	return s.do(ctx, "jobs.clear", func() {
		maps.DeleteFunc(s.rows, func(key rowKey, _ storedRow) bool { return key.tenant == job.Tenant && key.run != job.Run })
	})
}

// Tenant returns what there is to know of a tenant.
func (s *Store) Tenant(ctx context.Context, tenant string) (known adoption.Tenant, err error) {
	err = s.do(ctx, "facts.tenant", func() {
		known.Shadow = s.shadow[tenant]
		for _, code := range s.codes {
			known.Codes = known.Codes || code.Tenant == tenant
		}
	})
	return known, err
}

// Shadow puts a tenant into shadow mode.
func (s *Store) Shadow(ctx context.Context, tenant string) error {
	return s.do(ctx, "facts.shadow", func() { s.shadow[tenant] = true })
}

// Holders returns codes by the contact way that they have.
func (s *Store) Holders(ctx context.Context, tenant string, configIDs []string) (map[string]adoption.Holder, error) {
	holders := map[string]adoption.Holder{}
	err := s.do(ctx, "facts.holders", func() {
		for _, code := range s.codes {
			if code.Tenant == tenant && slices.Contains(configIDs, code.ConfigID) {
				holders[code.ConfigID] = adoption.Holder{Code: code.ID, Run: code.Run}
			}
		}
	})
	return holders, err
}

// AddStaff makes staff members that are not there.
func (s *Store) AddStaff(ctx context.Context, tenant string, staff []string) error {
	return s.do(ctx, "facts.add_staff", func() {
		for _, id := range staff {
			s.staff[push.Ref{Tenant: tenant, Code: id}] = true
		}
	})
}

// AddCode makes a code whose ID is free.
func (s *Store) AddCode(ctx context.Context, code adoption.NewCode) (added bool, err error) {
	err = s.do(ctx, "facts.add_code", func() {
		_, taken := s.codes[code.ID]
		if added = !taken; added {
			code.Revision, code.CreatedAt, code.UpdatedAt = 1, madeAt, madeAt
			s.codes[code.ID] = code
		}
	})
	return added && err == nil, err
}

func kept(job adoption.Job) adoption.Job {
	job = job.Copy()
	for _, at := range []*time.Time{
		&job.End, &job.Window.From, &job.Window.To, &job.Started, &job.Updated, &job.Finished, &job.Claim.Until,
	} {
		if !at.IsZero() {
			*at = at.UTC().Truncate(time.Millisecond)
		}
	}
	return job
}

// Vendor is adoption.Vendor in memory, for one company. It lists its contact ways
// in pages of Page.
type Vendor struct {
	fanouttest.Hooks
	Page int
	// Open leaves what was made at a window's last instant out of it.
	Open bool
	// Refuse is WeCom's answer to a call instead of what was asked for; nil is
	// none. op is "list" or "get", id the contact way or the cursor.
	Refuse func(op, id string) error

	mu   sync.Mutex
	ways []made
}

type made struct {
	contactway.Way
	at time.Time
}

var _ adoption.Vendor = (*Vendor)(nil)

// Add puts a contact way there that was made at an instant.
func (v *Vendor) Add(at time.Time, way contactway.Way) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ways = append(v.ways, made{way, at})
}

// WayIDs returns a page. Its cursor is the last ID of the page before.
func (v *Vendor) WayIDs(ctx context.Context, _ string, window contactway.Window, cursor string) (ids []string, next string, err error) {
	if v.Refuse != nil {
		if err := v.Refuse("list", cursor); err != nil {
			return nil, "", err
		}
	}
	err = v.Do(ctx, "vendor.list", func() { ids, next = v.page(window, cursor) })
	return ids, next, err
}

func (v *Vendor) page(window contactway.Window, cursor string) (ids []string, next string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	begun := cursor == ""
	for _, way := range v.ways {
		switch {
		case way.at.Before(window.From) || way.at.After(window.To) || v.Open && way.at.Equal(window.To):
		case !begun:
			begun = way.ConfigID == cursor
		case len(ids) == v.Page:
			return ids, ids[v.Page-1]
		default:
			ids = append(ids, way.ConfigID)
		}
	}
	return ids, ""
}

// ContactWay returns a contact way.
func (v *Vendor) ContactWay(ctx context.Context, _, configID string) (way contactway.Way, known bool, err error) {
	if v.Refuse != nil {
		if err := v.Refuse("get", configID); err != nil {
			return way, false, err
		}
	}
	err = v.Do(ctx, "vendor.get", func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		at := slices.IndexFunc(v.ways, func(w made) bool { return w.ConfigID == configID })
		if known = at >= 0; known {
			way = v.ways[at].Way
		}
	})
	return way, known, err
}

// Remove deletes a contact way.
func (v *Vendor) Remove(configID string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ways = slices.DeleteFunc(v.ways, func(w made) bool { return w.ConfigID == configID })
}
