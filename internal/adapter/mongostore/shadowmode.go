package mongostore

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/shadow"
)

// What a mode rests on.
var (
	codeModeFields   = fields([]string{"tenant", "deleted", "mode", "term"})
	tenantModeFields = fields([]string{"time_zone", "mode", "term"})
)

// modeOf says how a code is written.
func modeOf(tenant roster.Tenant, code roster.Code) (shadowed bool, term int64) {
	facts := roster.Facts{Tenant: tenant, Code: code}
	return facts.Shadowed() && !code.Deleted, tenant.Term + code.Term
}

// Mode returns a code's, in two round trips.
func (s *Shadows) Mode(ctx context.Context, ref push.Ref) (shadow.Mode, error) {
	tenant, zone, err := s.tenant(ctx, ref.Tenant)
	if err != nil {
		return shadow.Mode{}, err
	}
	doc, found, err := findOne[codeDoc](ctx, s.codes, ref.Code, codeModeFields)
	if err == nil && (!found || doc.Tenant != ref.Tenant) {
		err = fmt.Errorf("code %s of tenant %s: %w", ref.Code, ref.Tenant, push.ErrUnknownCode)
	}
	if err != nil {
		return shadow.Mode{}, err
	}
	mode := shadow.Mode{Zone: zone}
	mode.Shadow, mode.Term = modeOf(tenant, doc.code())
	return mode, nil
}

// Zone returns a tenant's.
func (s *Shadows) Zone(ctx context.Context, tenant string) (*time.Location, error) {
	_, zone, err := s.tenant(ctx, tenant)
	return zone, err
}

func (s *Shadows) tenant(ctx context.Context, id string) (roster.Tenant, *time.Location, error) {
	doc, found, err := findOne[tenantDoc](ctx, s.tenants, id, tenantModeFields)
	if err == nil && !found {
		err = fmt.Errorf("tenant %s: %w", id, push.ErrUnknownTenant)
	}
	if err != nil {
		return roster.Tenant{}, nil, err
	}
	tenant := doc.tenant()
	zone, err := tenant.Location()
	return tenant, zone, err
}

// Codes reads a page of a tenant's codes, and the tenant.
func (s *Shadows) Codes(ctx context.Context, tenant, after string, limit int) ([]shadow.Listed, error) {
	owner, _, err := s.tenant(ctx, tenant)
	if err != nil {
		return nil, err
	}
	docs, err := findAll[codeDoc](ctx, s.codes,
		bson.D{kv("tenant", tenant), kv("_id", bson.D{kv("$gt", after)}), kv("deleted", bson.D{kv("$ne", true)})},
		page(limit).SetSort(bson.D{kv("_id", 1)}).SetProjection(codeModeFields))
	listed := make([]shadow.Listed, len(docs))
	for i, doc := range docs {
		listed[i].Code = doc.ID
		listed[i].Shadow, listed[i].Term = modeOf(owner, doc.code())
	}
	return listed, err
}
