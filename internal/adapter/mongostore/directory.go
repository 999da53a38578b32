package mongostore

import (
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// Directory finds what is named by the beginning of its ID, in the order of IDs
// and by their index alone.
type Directory struct{ tenants, staff, codes *mongo.Collection }

// Directory returns the directory of tenants, staff and codes.
func (d *Database) Directory() *Directory {
	return &Directory{
		tenants: d.db.Collection(tenantsCollection), staff: d.db.Collection(staffCollection), codes: d.db.Collection(codesCollection),
	}
}

// beginning is a condition on a text: it begins with a prefix. The last character
// that there is comes after whatever follows.
func beginning(prefix string) bson.D {
	return bson.D{kv("$gte", prefix), kv("$lt", prefix+"\U0010FFFF")}
}

// named is a document of which the names are wanted.
type named struct {
	ID     string `bson:"_id"`
	Tenant string `bson:"tenant"`
}

func find(ctx context.Context, in *mongo.Collection, filter bson.D, opts *options.FindOptionsBuilder) ([]named, error) {
	found, err := findAll[named](ctx, in, filter, opts.SetSort(bson.D{kv("_id", 1)}).SetProjection(fields([]string{"tenant"})))
	if err != nil {
		return nil, fmt.Errorf("look up names: %w", err)
	}
	return found, nil
}

// Tenants returns at most limit tenants whose ID begins with a text.
func (d *Directory) Tenants(ctx context.Context, prefix string, limit int) ([]string, error) {
	found, err := find(ctx, d.tenants, bson.D{kv("_id", beginning(prefix))}, page(limit))
	ids := make([]string, len(found))
	for i, one := range found {
		ids[i] = one.ID
	}
	return ids, err
}

// Codes returns at most limit codes whose ID begins with a text, of a tenant or,
// for "", of all.
func (d *Directory) Codes(ctx context.Context, tenant, prefix string, limit int) ([]push.Ref, error) {
	filter := bson.D{kv("_id", beginning(prefix))}
	if tenant != "" {
		filter = append(bson.D{kv("tenant", tenant)}, filter...)
	}
	found, err := find(ctx, d.codes, filter, page(limit))
	refs := make([]push.Ref, len(found))
	for i, one := range found {
		refs[i] = push.Ref{Tenant: one.Tenant, Code: one.ID}
	}
	return refs, err
}

// Staff returns at most limit staff of a tenant whose ID begins with a text.
func (d *Directory) Staff(ctx context.Context, tenant, prefix string, limit int) ([]string, error) {
	found, err := find(ctx, d.staff, bson.D{kv("_id", beginning(scoped(tenant, prefix)))}, page(limit))
	ids := make([]string, len(found))
	for i, one := range found {
		_, ids[i], _ = strings.Cut(one.ID, "/")
	}
	return ids, err
}

// Colleagues returns those of the tenants that have a staff member of an ID.
func (d *Directory) Colleagues(ctx context.Context, tenants []string, staff string) ([]string, error) {
	ids := make([]string, len(tenants))
	for i, tenant := range tenants {
		ids[i] = scoped(tenant, staff)
	}
	found, err := find(ctx, d.staff, bson.D{kv("_id", bson.D{kv("$in", ids)})}, page(len(ids)))
	have := make([]string, len(found))
	for i, one := range found {
		have[i], _, _ = strings.Cut(one.ID, "/")
	}
	return have, err
}
