package mongostore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/rollcall-dev/rollcall/internal/adoption"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Adoptions is adoption.Facts on MongoDB.
type Adoptions struct {
	tenants *mongo.Collection
	staff   *mongo.Collection
	codes   *mongo.Collection
	now     func() time.Time
}

var _ adoption.Facts = (*Adoptions)(nil)

// Adoptions returns an import's view of the facts.
func (d *Database) Adoptions() *Adoptions {
	return &Adoptions{
		tenants: d.db.Collection(tenantsCollection),
		staff:   d.db.Collection(staffCollection),
		codes:   d.db.Collection(codesCollection),
		now:     d.now,
	}
}

// importField is the field of a code that names the import that made it.
const importField = "imported_by"

// Tenant reads a tenant's mode and looks for one of its codes.
func (a *Adoptions) Tenant(ctx context.Context, tenant string) (adoption.Tenant, error) {
	doc, _, err := findOne[struct {
		Mode roster.Mode `bson:"mode"`
	}](ctx, a.tenants, tenant, fields([]string{"mode"}))
	if err != nil {
		return adoption.Tenant{}, err
	}
	some, err := findAll[struct {
		ID string `bson:"_id"`
	}](ctx, a.codes, bson.D{kv("tenant", tenant)}, page(1).SetProjection(fields([]string{"_id"})))
	return adoption.Tenant{Shadow: doc.Mode == roster.Shadow, Codes: len(some) > 0}, err
}

// Shadow sets a tenant's mode, or makes the tenant.
func (a *Adoptions) Shadow(ctx context.Context, tenant string) error {
	if err := checkTenantID(tenant); err != nil {
		return err
	}
	return upsert(ctx, a.tenants, tenant, bson.D{
		kv("$set", bson.D{kv("mode", roster.Shadow)}),
		kv("$inc", newTerm),
	})
}

// Holders reads the codes of contact ways.
func (a *Adoptions) Holders(ctx context.Context, tenant string, configIDs []string) (map[string]adoption.Holder, error) {
	filter := bson.D{kv("tenant", tenant), kv("config_id", bson.D{kv("$in", configIDs)})}
	docs, err := findAll[struct {
		ID       string `bson:"_id"`
		ConfigID string `bson:"config_id"`
		Run      string `bson:"imported_by"`
	}](ctx, a.codes, filter, options.Find().SetProjection(fields([]string{"config_id", importField})))
	holders := make(map[string]adoption.Holder, len(docs))
	for _, doc := range docs {
		holders[doc.ConfigID] = adoption.Holder{Code: doc.ID, Run: doc.Run}
	}
	return holders, err
}

// AddStaff makes staff members that have nothing but their names.
func (a *Adoptions) AddStaff(ctx context.Context, tenant string, staff []string) error {
	if err := checkTenantID(tenant); err != nil {
		return err
	}
	writes := make([]write, 0, len(staff))
	for _, id := range staff {
		if err := checkStaffID(id); err != nil {
			return err
		}
		writes = append(writes, write{id: scoped(tenant, id), update: bson.D{
			kv("$setOnInsert", bson.D{kv("tenant", tenant), kv("staff", id)}),
		}})
	}
	return writeAll(ctx, a.staff, writes)
}

// adoptedCodeDoc is a code that an import makes. The inlined field has an exported
// name: bson leaves others out.
type adoptedCodeDoc struct {
	Facts  codeDoc `bson:",inline"`
	QRCode string  `bson:"qr_code"`
	Run    string  `bson:"imported_by"`
}

// AddCode inserts a code.
func (a *Adoptions) AddCode(ctx context.Context, code adoption.NewCode) (bool, error) {
	if err := errors.Join(checkCodeID(code.ID), checkTenantID(code.Tenant)); err != nil {
		return false, fmt.Errorf("add a code: %w", err)
	}
	now := a.now()
	code.Revision, code.CreatedAt, code.UpdatedAt = 1, now, now
	_, err := a.codes.InsertOne(ctx, adoptedCodeDoc{Facts: codeDocOf(code.Code), QRCode: code.QRCode, Run: code.Run})
	if mongo.IsDuplicateKeyError(err) {
		return false, nil
	}
	return err == nil, err
}
