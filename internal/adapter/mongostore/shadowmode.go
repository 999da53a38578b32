package mongostore

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/shadow"
)

// modeField says how a tenant's codes, or one code, are written; a code without
// it follows its tenant.
const modeField = "mode"

// inShadow is the mode in which Rollcall decides and another system pushes.
const inShadow = "shadow"

// tenantModeDoc is what is asked of a tenant.
type tenantModeDoc struct {
	Facts tenantDoc `bson:",inline"`
	Mode  string    `bson:"mode"`
}

// codeModeDoc is what is asked of a code.
type codeModeDoc struct {
	ID      string `bson:"_id"`
	Tenant  string `bson:"tenant"`
	Deleted bool   `bson:"deleted"`
	Mode    string `bson:"mode"`
}

func (d codeModeDoc) shadow(tenant tenantModeDoc) bool {
	mode := d.Mode
	if mode == "" {
		mode = tenant.Mode
	}
	return mode == inShadow && !d.Deleted
}

var codeModeFields = fields([]string{"tenant", "deleted", modeField})

// Mode returns a code's, in two round trips.
func (s *Shadows) Mode(ctx context.Context, ref push.Ref) (shadow.Mode, error) {
	tenant, zone, err := s.tenant(ctx, ref.Tenant)
	if err != nil {
		return shadow.Mode{}, err
	}
	code, found, err := findOne[codeModeDoc](ctx, s.codes, ref.Code, codeModeFields)
	if err == nil && (!found || code.Tenant != ref.Tenant) {
		err = fmt.Errorf("code %s of tenant %s: %w", ref.Code, ref.Tenant, push.ErrUnknownCode)
	}
	if err != nil {
		return shadow.Mode{}, err
	}
	return shadow.Mode{Shadow: code.shadow(tenant), Zone: zone}, nil
}

// Zone returns a tenant's.
func (s *Shadows) Zone(ctx context.Context, tenant string) (*time.Location, error) {
	_, zone, err := s.tenant(ctx, tenant)
	return zone, err
}

func (s *Shadows) tenant(ctx context.Context, tenant string) (tenantModeDoc, *time.Location, error) {
	doc, found, err := findOne[tenantModeDoc](ctx, s.tenants, tenant, fields([]string{"time_zone", modeField}))
	if err == nil && !found {
		err = fmt.Errorf("tenant %s: %w", tenant, push.ErrUnknownTenant)
	}
	if err != nil {
		return tenantModeDoc{}, nil, err
	}
	facts := doc.Facts.tenant()
	zone, err := facts.Location()
	return doc, zone, err
}

// Codes reads a page of a tenant's codes, and the tenant.
func (s *Shadows) Codes(ctx context.Context, tenant, after string, limit int) ([]shadow.Listed, error) {
	owner, _, err := findOne[tenantModeDoc](ctx, s.tenants, tenant, fields([]string{modeField}))
	if err != nil {
		return nil, err
	}
	docs, err := findAll[codeModeDoc](ctx, s.codes,
		bson.D{kv("tenant", tenant), kv("_id", bson.D{kv("$gt", after)}), kv("deleted", bson.D{kv("$ne", true)})},
		page(limit).SetSort(bson.D{kv("_id", 1)}).SetProjection(codeModeFields))
	listed := make([]shadow.Listed, 0, len(docs))
	for _, doc := range docs {
		listed = append(listed, shadow.Listed{Code: doc.ID, Shadow: doc.shadow(owner)})
	}
	return listed, err
}
