package registrytest

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Memory is registry.Facts in memory. It is safe for concurrent use.
type Memory struct {
	// Fail, when set, is asked before every call; its error is the call's.
	Fail func() error

	mu      sync.Mutex
	now     func() time.Time
	tenants map[string]registry.Tenant
	staff   map[string]map[string]registry.Staff
	codes   map[string]registry.Code // by ID, over all tenants
}

var _ registry.Facts = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory(now func() time.Time) *Memory {
	return &Memory{
		now: now, tenants: map[string]registry.Tenant{}, staff: map[string]map[string]registry.Staff{},
		codes: map[string]registry.Code{},
	}
}

// Seed puts facts there as another producer would.
func (m *Memory) Seed(tenant registry.Tenant, staff []registry.Staff, codes []registry.Code) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tenants[tenant.ID] = tenant
	for _, one := range staff {
		m.of(tenant.ID)[one.ID] = one
	}
	for _, one := range codes {
		one.Tenant = tenant.ID
		m.codes[one.ID] = one
	}
}

func (m *Memory) of(tenant string) map[string]registry.Staff {
	if m.staff[tenant] == nil {
		m.staff[tenant] = map[string]registry.Staff{}
	}
	return m.staff[tenant]
}

// begin locks, unless the call is to fail.
func (m *Memory) begin() (end func(), err error) {
	if m.Fail != nil {
		if err := m.Fail(); err != nil {
			return nil, err
		}
	}
	m.mu.Lock()
	return m.mu.Unlock, nil
}

// Tenant returns a tenant.
func (m *Memory) Tenant(_ context.Context, tenant string) (registry.Tenant, error) {
	end, err := m.begin()
	if err != nil {
		return registry.Tenant{}, err
	}
	defer end()
	t, there := m.tenants[tenant]
	if !there {
		return registry.Tenant{}, registry.ErrUnknownTenant
	}
	return t, nil
}

// EditTenant changes or makes a tenant.
func (m *Memory) EditTenant(_ context.Context, edit registry.TenantEdit, stamp string) error {
	end, err := m.begin()
	if err != nil {
		return err
	}
	defer end()
	m.tenants[edit.Tenant] = registry.Tenant{Tenant: edit.Of(m.tenants[edit.Tenant].Tenant), Unannounced: stamp}
	return nil
}

// TenantAnnounced clears the stamp.
func (m *Memory) TenantAnnounced(_ context.Context, tenant, stamp string) error {
	end, err := m.begin()
	if err != nil {
		return err
	}
	defer end()
	if t := m.tenants[tenant]; t.Unannounced == stamp {
		t.Unannounced = ""
		m.tenants[tenant] = t
	}
	return nil
}

// StaffOf returns those that there are.
func (m *Memory) StaffOf(_ context.Context, tenant string, ids []string) (map[string]registry.Staff, error) {
	end, err := m.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	known := map[string]registry.Staff{}
	for _, id := range ids {
		if one, there := m.of(tenant)[id]; there {
			known[id] = one
		}
	}
	return known, nil
}

// EditStaff changes or makes staff members.
func (m *Memory) EditStaff(_ context.Context, tenant string, edits []registry.StaffEdit, stamp string) error {
	end, err := m.begin()
	if err != nil {
		return err
	}
	defer end()
	named := map[string]bool{}
	for _, edit := range edits {
		if named[edit.Staff] {
			return errTwice
		}
		named[edit.Staff] = true
		m.editStaff(tenant, edit, stamp)
	}
	return nil
}

// errTwice says that one call names something twice: a store that writes in any
// order could end with either.
var errTwice = errors.New("named twice in one call")

// ChangeStaff changes one who is there.
func (m *Memory) ChangeStaff(_ context.Context, tenant string, edit registry.StaffEdit, stamp string) error {
	end, err := m.begin()
	if err != nil {
		return err
	}
	defer end()
	if _, there := m.of(tenant)[edit.Staff]; !there {
		return registry.ErrUnknownStaff
	}
	m.editStaff(tenant, edit, stamp)
	return nil
}

func (m *Memory) editStaff(tenant string, edit registry.StaffEdit, stamp string) {
	before := m.of(tenant)[edit.Staff]
	after := registry.Staff{Staff: edit.Of(before.Staff), QuarantinedWhy: before.QuarantinedWhy, Unannounced: stamp}
	if edit.Readmit {
		after.QuarantinedWhy = ""
	}
	m.of(tenant)[edit.Staff] = after
}

// StaffAnnounced clears the stamps.
func (m *Memory) StaffAnnounced(_ context.Context, tenant string, ids []string, stamp string) error {
	end, err := m.begin()
	if err != nil {
		return err
	}
	defer end()
	for _, id := range ids {
		if one, there := m.of(tenant)[id]; there && one.Unannounced == stamp {
			one.Unannounced = ""
			m.of(tenant)[id] = one
		}
	}
	return nil
}

// LeftBehind returns what carries a stamp that sorts before one.
func (m *Memory) LeftBehind(_ context.Context, before string, limit int) ([]registry.LeftBehind, error) {
	end, err := m.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	var tenants, staff []registry.LeftBehind
	for id, t := range m.tenants {
		if t.Unannounced != "" && t.Unannounced < before {
			tenants = append(tenants, registry.LeftBehind{Scope: fanout.Scope{Tenant: id}, Stamp: t.Unannounced})
		}
	}
	for tenant, all := range m.staff {
		for id, s := range all {
			if s.Unannounced != "" && s.Unannounced < before {
				staff = append(staff, registry.LeftBehind{Scope: fanout.Scope{Tenant: tenant, Staff: id}, Stamp: s.Unannounced})
			}
		}
	}
	return slices.Concat(tenants[:min(len(tenants), limit)], staff[:min(len(staff), limit)]), nil
}

// CodesOf returns those that the tenant has.
func (m *Memory) CodesOf(_ context.Context, tenant string, ids []string) (map[string]registry.Code, error) {
	end, err := m.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	known := map[string]registry.Code{}
	for _, id := range ids {
		if code, there := m.codes[id]; there && code.Tenant == tenant {
			known[id] = code
		}
	}
	return known, nil
}

// PutCodes changes or makes codes.
func (m *Memory) PutCodes(_ context.Context, tenant string, edits []registry.CodeEdit) ([]string, error) {
	end, err := m.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	var taken []string
	named := map[string]bool{}
	for _, edit := range edits {
		if named[edit.Code] {
			return nil, errTwice
		}
		named[edit.Code] = true
		before, there := m.codes[edit.Code]
		if there && before.Tenant != tenant {
			taken = append(taken, edit.Code)
			continue
		}
		if !there {
			before.CreatedAt = m.now()
		}
		before.Tenant = tenant
		m.editCode(before, edit)
	}
	return taken, nil
}

// ChangeCode changes one that is there.
func (m *Memory) ChangeCode(_ context.Context, tenant string, edit registry.CodeEdit) error {
	end, err := m.begin()
	if err != nil {
		return err
	}
	defer end()
	before, there := m.codes[edit.Code]
	if !there || before.Tenant != tenant {
		return registry.ErrUnknownCode
	}
	m.editCode(before, edit)
	return nil
}

// HoldCode writes or ends an operator's hold.
func (m *Memory) HoldCode(_ context.Context, tenant, code string, hold roster.Stop) error {
	end, err := m.begin()
	if err != nil {
		return err
	}
	defer end()
	one, there := m.codes[code]
	if !there || one.Tenant != tenant {
		return registry.ErrUnknownCode
	}
	one.Hold = hold
	m.codes[code] = one
	return nil
}

func (m *Memory) editCode(before registry.Code, edit registry.CodeEdit) {
	after := before
	after.Code = edit.Of(before.Code)
	after.Revision++
	after.UpdatedAt = m.now()
	if deleted, named := edit.Deleted.Value(); named {
		after.DeletedAt = time.Time{}
		if deleted {
			after.DeletedAt = m.now()
		}
	}
	m.codes[edit.Code] = after
}

// ListStaff returns a page.
func (m *Memory) ListStaff(_ context.Context, tenant string, page registry.Page) ([]registry.Staff, error) {
	end, err := m.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	return cut(maps.Values(m.of(tenant)), func(s registry.Staff) string { return s.ID }, page), nil
}

// ListCodes returns a page.
func (m *Memory) ListCodes(ctx context.Context, tenant string, page registry.Page) ([]registry.Code, error) {
	return m.listCodes(ctx, tenant, page, func(registry.Code) bool { return true })
}

// ListCodesOf returns a page.
func (m *Memory) ListCodesOf(ctx context.Context, tenant roster.Tenant, staff string, page registry.Page) ([]registry.Code, error) {
	return m.listCodes(ctx, tenant.ID, page, func(c registry.Code) bool {
		member := slices.ContainsFunc(c.Members, func(m roster.Member) bool { return m.Staff == staff })
		fallback := c.OnEmpty == roster.TenantFallback && slices.Contains(tenant.Fallback, staff)
		return member || fallback || slices.Contains(c.Backups, staff)
	})
}

func (m *Memory) listCodes(_ context.Context, tenant string, page registry.Page, wanted func(registry.Code) bool) ([]registry.Code, error) {
	end, err := m.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	own := func(yield func(registry.Code) bool) {
		for _, code := range m.codes {
			if code.Tenant == tenant && wanted(code) && !yield(code) {
				return
			}
		}
	}
	return cut(own, func(c registry.Code) string { return c.ID }, page), nil
}

// cut returns a page of what there is, in the order of the IDs.
func cut[T any](all func(func(T) bool), id func(T) string, page registry.Page) []T {
	sorted := slices.SortedFunc(all, func(a, b T) int { return cmp.Compare(id(a), id(b)) })
	sorted = slices.DeleteFunc(sorted, func(one T) bool { return id(one) <= page.After })
	return sorted[:min(len(sorted), page.Limit)]
}
