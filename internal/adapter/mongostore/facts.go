package mongostore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/seal"
)

// ErrUnknownStaff says that the tenant has no such staff member.
var ErrUnknownStaff = errors.New("unknown staff member")

// batch is how many documents one bulk write carries.
const batch = 1000

// Facts writes facts as docs/facts.md asks producers to. A producer publishes
// its event after the write has returned nil. After an error the outcome is
// unknown; every write but CountAddition may simply be repeated.
type Facts struct {
	tenants     *mongo.Collection
	staff       *mongo.Collection
	codes       *mongo.Collection
	counters    *mongo.Collection
	credentials *mongo.Collection
	keys        *seal.Keyring
	now         func() time.Time
}

// PutTenant writes a tenant: every field that this package knows, and no other.
func (f *Facts) PutTenant(ctx context.Context, tenant roster.Tenant) error {
	if err := checkTenantID(tenant.ID); err != nil {
		return fmt.Errorf("put tenant: %w", err)
	}
	update, err := setAll(tenantDocOf(tenant), tenantFields)
	if err != nil {
		return fmt.Errorf("put tenant %s: %w", tenant.ID, err)
	}
	if err := upsert(ctx, f.tenants, tenant.ID, update); err != nil {
		return fmt.Errorf("put tenant %s: %w", tenant.ID, err)
	}
	return nil
}

// PutStaff writes staff members of a tenant: every field, except that additions
// of days that are not named stay. Many are written a thousand at a time; an
// error leaves some of them written.
func (f *Facts) PutStaff(ctx context.Context, tenant string, staff ...roster.Staff) error {
	if err := checkTenantID(tenant); err != nil {
		return fmt.Errorf("put staff: %w", err)
	}
	writes := make([]write, 0, len(staff))
	for _, one := range staff {
		if err := checkStaffID(one.ID); err != nil {
			return fmt.Errorf("put staff of tenant %s: %w", tenant, err)
		}
		update, err := setAll(staffDocOf(tenant, one), staffFields)
		if err != nil {
			return fmt.Errorf("put staff %s: %w", one.ID, err)
		}
		set := bson.D{kv("tenant", tenant), kv("staff", one.ID)}
		for day, n := range one.Added {
			set = append(set, kv("added."+string(day), n))
		}
		writes = append(writes, write{id: scoped(tenant, one.ID), update: merge(update, "$set", set)})
	}
	if err := writeAll(ctx, f.staff, writes); err != nil {
		return fmt.Errorf("put staff of tenant %s: %w", tenant, err)
	}
	return nil
}

// PutCodes writes codes as they are, revision included: for an import and for
// new codes. An edit of a code that exists goes through EditCode. Many are
// written a thousand at a time; an error leaves some of them written. A code of
// another tenant is left as it is: push.ErrWrongTenant.
func (f *Facts) PutCodes(ctx context.Context, codes ...roster.Code) error {
	writes := make([]write, 0, len(codes))
	for _, code := range codes {
		if err := errors.Join(checkCodeID(code.ID), checkTenantID(code.Tenant)); err != nil {
			return fmt.Errorf("put codes: %w", err)
		}
		update, err := setAll(codeDocOf(code), codeFields)
		if err != nil {
			return fmt.Errorf("put code %s: %w", code.ID, err)
		}
		writes = append(writes, write{id: code.ID, also: ofTenantOrNobody(code.Tenant), update: update})
	}
	err := writeAll(ctx, f.codes, writes)
	if mongo.IsDuplicateKeyError(err) {
		err = fmt.Errorf("%w: %w", push.ErrWrongTenant, err)
	}
	if err != nil {
		return fmt.Errorf("put codes: %w", err)
	}
	return nil
}

// ofTenantOrNobody is the condition that a document is the tenant's, or that no
// producer has written yet whose it is.
func ofTenantOrNobody(tenant string) bson.D {
	return bson.D{kv("tenant", bson.D{kv("$in", bson.A{tenant, nil})})}
}

// setAll is the update that makes the named fields of a document what doc says
// they are: those that doc's encoding has are set, the others removed.
func setAll[T tenantDoc | staffDoc | codeDoc](doc T, names []string) (bson.D, error) {
	raw, err := bson.Marshal(doc)
	if err != nil {
		return nil, err
	}
	var set, unset bson.D
	for _, name := range names {
		value, err := bson.Raw(raw).LookupErr(name)
		if err != nil {
			unset = append(unset, kv(name, ""))
			continue
		}
		set = append(set, kv(name, value))
	}
	return merge(merge(nil, "$set", set), "$unset", unset), nil
}

// merge adds fields to one operator of an update; an operator without fields
// is left out, as servers before 5.0 refuse it.
func merge(update bson.D, operator string, more bson.D) bson.D {
	if len(more) == 0 {
		return update
	}
	at := slices.IndexFunc(update, func(e bson.E) bool { return e.Key == operator })
	if at < 0 {
		return append(update, kv(operator, more))
	}
	had, _ := update[at].Value.(bson.D)
	update[at].Value = slices.Concat(had, more)
	return update
}

// write is one document of a bulk write.
type write struct {
	id     string
	also   bson.D // what else has to hold of a document that is there
	update bson.D
}

// writeAll writes a thousand documents at a time. A chunk that met another
// writer creating one of its documents is written once more: every one of its
// updates may be repeated.
func writeAll(ctx context.Context, to *mongo.Collection, writes []write) error {
	for chunk := range slices.Chunk(writes, batch) {
		models := make([]mongo.WriteModel, 0, len(chunk))
		for _, w := range chunk {
			models = append(models,
				mongo.NewUpdateOneModel().SetFilter(append(byID(w.id), w.also...)).SetUpdate(w.update).SetUpsert(true))
		}
		opts := options.BulkWrite().SetOrdered(false)
		_, err := to.BulkWrite(ctx, models, opts)
		if mongo.IsDuplicateKeyError(err) {
			_, err = to.BulkWrite(ctx, models, opts)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
