package fanouttest

import (
	"context"
	"slices"
	"sync"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Codes is fanout.Codes in memory.
type Codes struct {
	Hooks

	mu      sync.Mutex
	tenants map[string]roster.Tenant
	codes   map[string]roster.Code
}

var _ fanout.Codes = (*Codes)(nil)

// NewCodes returns an empty set of codes.
func NewCodes() *Codes {
	return &Codes{tenants: map[string]roster.Tenant{}, codes: map[string]roster.Code{}}
}

// PutTenant writes a tenant.
func (c *Codes) PutTenant(tenant roster.Tenant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	tenant.Fallback = slices.Clone(tenant.Fallback)
	c.tenants[tenant.ID] = tenant
}

// PutCodes writes codes.
func (c *Codes) PutCodes(codes ...roster.Code) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, code := range codes {
		code.Members, code.Backups = slices.Clone(code.Members), slices.Clone(code.Backups)
		c.codes[code.ID] = code
	}
}

// Of lists a scope's codes.
func (c *Codes) Of(ctx context.Context, scope fanout.Scope, after string, limit int) ([]string, error) {
	var ids []string
	err := c.Do(ctx, OpCodes, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for id, code := range c.codes {
			if id > after && c.concerns(scope, code) {
				ids = append(ids, id)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(ids)
	return ids[:min(limit, len(ids))], nil
}

func (c *Codes) concerns(scope fanout.Scope, code roster.Code) bool {
	switch {
	case code.Tenant != scope.Tenant || code.Deleted:
		return false
	case scope.Staff == "":
		return true
	}
	return slices.ContainsFunc(code.Members, func(m roster.Member) bool { return m.Staff == scope.Staff }) ||
		slices.Contains(code.Backups, scope.Staff) ||
		code.OnEmpty == roster.TenantFallback && slices.Contains(c.tenants[scope.Tenant].Fallback, scope.Staff)
}
