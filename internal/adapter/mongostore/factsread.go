package mongostore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// What the API shows of facts beyond what a verdict needs. The inlined fields
// have exported names: bson leaves others out.

type shownTenantDoc struct {
	Facts       tenantDoc `bson:",inline"`
	Unannounced string    `bson:"unannounced"`
}

type shownStaffDoc struct {
	Facts          staffDoc `bson:",inline"`
	QuarantinedWhy string   `bson:"quarantined_why"`
	Unannounced    string   `bson:"unannounced"`
}

type shownCodeDoc struct {
	Facts     codeDoc   `bson:",inline"`
	QRCode    string    `bson:"qr_code"`
	DeletedAt time.Time `bson:"deleted_at"`
}

var (
	shownTenantFields = fields(tenantFields, suspensionField, holdField, unannounced)
	shownStaffFields  = fields(staffFields, offField, "quarantined_why", unannounced)
	shownCodeFields   = fields(codeFields, holdField, "qr_code", "deleted_at")
)

func (d shownStaffDoc) shown() (registry.Staff, error) {
	staff, err := d.Facts.staff()
	return registry.Staff{Staff: staff, QuarantinedWhy: d.QuarantinedWhy, Unannounced: d.Unannounced}, err
}

func (d shownCodeDoc) shown() registry.Code {
	return registry.Code{Code: d.Facts.code(), QRCode: d.QRCode, DeletedAt: utc(d.DeletedAt)}
}

// Tenant reads a tenant; registry.ErrUnknownTenant.
func (r *Registry) Tenant(ctx context.Context, tenant string) (registry.Tenant, error) {
	doc, found, err := findOne[shownTenantDoc](ctx, r.tenants, tenant, shownTenantFields)
	if err == nil && !found {
		err = fmt.Errorf("tenant %s: %w", tenant, registry.ErrUnknownTenant)
	}
	if err != nil {
		return registry.Tenant{}, err
	}
	return registry.Tenant{Tenant: doc.Facts.tenant(), Unannounced: doc.Unannounced}, nil
}

// StaffOf reads staff members of a tenant.
func (r *Registry) StaffOf(ctx context.Context, tenant string, ids []string) (map[string]registry.Staff, error) {
	scopedIDs := make([]string, len(ids))
	for i, id := range ids {
		scopedIDs[i] = scoped(tenant, id)
	}
	all, err := r.findStaff(ctx, bson.D{kv("_id", bson.D{kv("$in", scopedIDs)})}, options.Find().SetBatchSize(int32(len(ids)+1)))
	if err != nil {
		return nil, fmt.Errorf("read %d staff of tenant %s: %w", len(ids), tenant, err)
	}
	known := make(map[string]registry.Staff, len(all))
	for _, one := range all {
		known[one.ID] = one
	}
	return known, nil
}

// ListStaff reads a page of a tenant's staff. It goes by the range of the _ids,
// "tenant/…", in which no other tenant's lie.
func (r *Registry) ListStaff(ctx context.Context, tenant string, at registry.Page) ([]registry.Staff, error) {
	within := bson.D{kv("$gt", scoped(tenant, at.After)), kv("$lt", tenant+"0")} // 0 comes after the slash
	all, err := r.findStaff(ctx, bson.D{kv("_id", within)}, page(at.Limit).SetSort(bson.D{kv("_id", 1)}))
	if err != nil {
		return nil, fmt.Errorf("list the staff of tenant %s: %w", tenant, err)
	}
	return all, nil
}

func (r *Registry) findStaff(ctx context.Context, filter bson.D, opts *options.FindOptionsBuilder) ([]registry.Staff, error) {
	docs, err := findAll[shownStaffDoc](ctx, r.staff, filter, opts.SetProjection(shownStaffFields))
	if err != nil {
		return nil, err
	}
	all := make([]registry.Staff, 0, len(docs))
	for _, doc := range docs {
		one, err := doc.shown()
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// LeftBehind finds tenants and staff by their stamps, in the index that holds
// only what has one.
func (r *Registry) LeftBehind(ctx context.Context, before string, limit int) ([]registry.LeftBehind, error) {
	old := bson.D{kv(unannounced, bson.D{kv("$gt", ""), kv("$lt", before)})}
	var left []registry.LeftBehind
	for _, from := range []*mongo.Collection{r.tenants, r.staff} {
		docs, err := findAll[struct {
			ID    string `bson:"_id"`
			Stamp string `bson:"unannounced"`
		}](ctx, from, old, page(limit).SetSort(bson.D{kv(unannounced, 1)}).SetProjection(fields([]string{unannounced})))
		if err != nil {
			return nil, fmt.Errorf("find what was left unannounced: %w", err)
		}
		for _, doc := range docs {
			tenant, staff, _ := strings.Cut(doc.ID, "/")
			left = append(left, registry.LeftBehind{Scope: fanout.Scope{Tenant: tenant, Staff: staff}, Stamp: doc.Stamp})
		}
	}
	return left, nil
}

// CodesOf reads codes of a tenant.
func (r *Registry) CodesOf(ctx context.Context, tenant string, ids []string) (map[string]registry.Code, error) {
	filter := bson.D{kv("_id", bson.D{kv("$in", ids)}), kv("tenant", tenant)}
	all, err := r.findCodes(ctx, filter, options.Find().SetBatchSize(int32(len(ids)+1)))
	if err != nil {
		return nil, fmt.Errorf("read %d codes of tenant %s: %w", len(ids), tenant, err)
	}
	known := make(map[string]registry.Code, len(all))
	for _, one := range all {
		known[one.ID] = one
	}
	return known, nil
}

// ListCodes reads a page of a tenant's codes.
func (r *Registry) ListCodes(ctx context.Context, tenant string, at registry.Page) ([]registry.Code, error) {
	return r.listCodes(ctx, tenant, at, nil)
}

// ListCodesOf reads a page of the codes on which a staff member may be listed.
func (r *Registry) ListCodesOf(ctx context.Context, tenant roster.Tenant, staff string, at registry.Page) ([]registry.Code, error) {
	places := bson.A{bson.D{kv("members.staff", staff)}, bson.D{kv("backups", staff)}}
	if slices.Contains(tenant.Fallback, staff) {
		places = append(places, bson.D{kv("on_empty", roster.TenantFallback)})
	}
	return r.listCodes(ctx, tenant.ID, at, bson.D{kv("$or", places)})
}

func (r *Registry) listCodes(ctx context.Context, tenant string, at registry.Page, which bson.D) ([]registry.Code, error) {
	filter := append(bson.D{kv("tenant", tenant), kv("_id", bson.D{kv("$gt", at.After)})}, which...)
	all, err := r.findCodes(ctx, filter, page(at.Limit).SetSort(bson.D{kv("_id", 1)}))
	if err != nil {
		return nil, fmt.Errorf("list codes of tenant %s: %w", tenant, err)
	}
	return all, nil
}

func (r *Registry) findCodes(ctx context.Context, filter bson.D, opts *options.FindOptionsBuilder) ([]registry.Code, error) {
	docs, err := findAll[shownCodeDoc](ctx, r.codes, filter, opts.SetProjection(shownCodeFields))
	all := make([]registry.Code, 0, len(docs))
	for _, doc := range docs {
		all = append(all, doc.shown())
	}
	return all, err
}
