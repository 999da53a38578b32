package mongostore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Registry is the API's view of the facts: every write names the fields that it
// means, and the tenant. It is registry.Facts.
type Registry struct {
	tenants *mongo.Collection
	staff   *mongo.Collection
	codes   *mongo.Collection
	now     func() time.Time
}

var _ registry.Facts = (*Registry)(nil)

// Registry returns the API's view of the facts.
func (d *Database) Registry() *Registry {
	return &Registry{
		tenants: d.db.Collection(tenantsCollection),
		staff:   d.db.Collection(staffCollection),
		codes:   d.db.Collection(codesCollection),
		now:     d.now,
	}
}

// unannounced is the field that names a write of which nobody was told yet. It
// is Rollcall's own.
const unannounced = "unannounced"

// EditTenant changes a tenant, or makes it.
func (r *Registry) EditTenant(ctx context.Context, edit registry.TenantEdit, stamp string) error {
	if err := checkTenantID(edit.Tenant); err != nil {
		return fmt.Errorf("edit tenant: %w", err)
	}
	set := bson.D{kv(unannounced, stamp)}
	set = given(set, "time_zone", edit.TimeZone)
	set = given(set, "daily_total", edit.DailyTotal)
	set = given(set, "fallback", edit.Fallback)
	set = given(set, "tier", edit.Tier)
	set = given(set, "whitelisted", edit.Whitelisted)
	set = given(set, "max_removal_share", edit.MaxRemovalShare)
	set = given(set, "lane", edit.Lane)
	set = given(set, "mode", edit.Mode)
	update := stopped(bson.D{kv("$set", set)}, holdField, edit.Hold)
	if _, switched := edit.Mode.Value(); switched {
		update = append(update, kv("$inc", newTerm))
	}
	if err := upsert(ctx, r.tenants, edit.Tenant, update); err != nil {
		return fmt.Errorf("edit tenant %s: %w", edit.Tenant, err)
	}
	return nil
}

// newTerm makes what WeCom holds from before a switch of mode count as unknown.
var newTerm = bson.D{kv("term", int64(1))}

// given adds a field that an edit names.
func given[T any](set bson.D, name string, change registry.Change[T]) bson.D {
	value, ok := change.Value()
	if !ok {
		return set
	}
	return append(set, kv(name, value))
}

// EditStaff changes staff members, or makes them.
func (r *Registry) EditStaff(ctx context.Context, tenant string, edits []registry.StaffEdit, stamp string) error {
	if err := checkTenantID(tenant); err != nil {
		return fmt.Errorf("edit staff: %w", err)
	}
	writes := make([]write, 0, len(edits))
	for _, edit := range edits {
		if err := checkStaffID(edit.Staff); err != nil {
			return fmt.Errorf("edit staff of tenant %s: %w", tenant, err)
		}
		update := staffUpdate(edit, stamp)
		update = merge(update, "$set", bson.D{kv("tenant", tenant), kv("staff", edit.Staff)})
		writes = append(writes, write{id: scoped(tenant, edit.Staff), update: update})
	}
	if err := writeAll(ctx, r.staff, writes); err != nil {
		return fmt.Errorf("edit staff of tenant %s: %w", tenant, err)
	}
	return nil
}

// ChangeStaff changes a staff member; registry.ErrUnknownStaff.
func (r *Registry) ChangeStaff(ctx context.Context, tenant string, edit registry.StaffEdit, stamp string) error {
	found, err := updateIf(ctx, r.staff, byID(scoped(tenant, edit.Staff)), staffUpdate(edit, stamp))
	if err == nil && !found {
		err = registry.ErrUnknownStaff
	}
	if err != nil {
		return fmt.Errorf("change staff %s: %w", edit.Staff, err)
	}
	return nil
}

func staffUpdate(edit registry.StaffEdit, stamp string) bson.D {
	set, unset := bson.D{kv(unannounced, stamp)}, bson.D(nil)
	set = given(set, "presence", edit.Presence)
	set = given(set, "resigned", edit.Resigned)
	if schedule, ok := edit.Schedule.Value(); ok && schedule != nil {
		set = append(set, kv("schedule", scheduleDocOf(*schedule)))
	} else if ok {
		unset = append(unset, kv("schedule", ""))
	}
	if edit.Readmit {
		unset = append(unset, quarantined...)
	}
	return stopped(merge(merge(nil, "$set", set), "$unset", unset), offField, edit.Off)
}

// TenantAnnounced clears the stamp of a tenant where it is still the same.
func (r *Registry) TenantAnnounced(ctx context.Context, tenant, stamp string) error {
	_, err := updateIf(ctx, r.tenants, append(byID(tenant), kv(unannounced, stamp)), clearStamp())
	if err != nil {
		return fmt.Errorf("note that tenant %s is announced: %w", tenant, err)
	}
	return nil
}

// StaffAnnounced clears the stamps of staff members where they are still the
// same.
func (r *Registry) StaffAnnounced(ctx context.Context, tenant string, ids []string, stamp string) error {
	models := make([]mongo.WriteModel, 0, len(ids))
	for _, id := range ids {
		models = append(models, mongo.NewUpdateOneModel().
			SetFilter(append(byID(scoped(tenant, id)), kv(unannounced, stamp))).SetUpdate(clearStamp()))
	}
	if _, err := r.staff.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false)); err != nil {
		return fmt.Errorf("note that staff of tenant %s are announced: %w", tenant, err)
	}
	return nil
}

func clearStamp() bson.D { return bson.D{kv("$unset", bson.D{kv(unannounced, "")})} }

// PutCodes changes codes, or makes them, and returns those that belong to
// another tenant.
func (r *Registry) PutCodes(ctx context.Context, tenant string, edits []registry.CodeEdit) ([]string, error) {
	if err := checkTenantID(tenant); err != nil {
		return nil, fmt.Errorf("put codes: %w", err)
	}
	models := make([]mongo.WriteModel, 0, len(edits))
	now := r.now()
	for _, edit := range edits {
		if err := checkCodeID(edit.Code); err != nil {
			return nil, fmt.Errorf("put codes: %w", err)
		}
		update := merge(codeUpdate(edit, now), "$setOnInsert", bson.D{kv("created_at", now)})
		models = append(models, mongo.NewUpdateOneModel().SetFilter(ofTenant(tenant, edit.Code)).SetUpdate(update).SetUpsert(true))
	}
	_, err := r.codes.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
	clashes, err := duplicates(err)
	if err != nil {
		return nil, fmt.Errorf("put codes of tenant %s: %w", tenant, err)
	}
	var taken []string
	for _, i := range clashes {
		// There is one: another tenant's, or made by another writer just now.
		found, err := updateIf(ctx, r.codes, ofTenant(tenant, edits[i].Code), codeUpdate(edits[i], now))
		if err != nil {
			return nil, fmt.Errorf("put code %s: %w", edits[i].Code, err)
		}
		if !found {
			taken = append(taken, edits[i].Code)
		}
	}
	return taken, nil
}

// duplicates returns which writes of a bulk met an _id that is in use; the
// error is any other that there was.
func duplicates(err error) ([]int, error) {
	bulk, ok := errors.AsType[mongo.BulkWriteException](err)
	if !ok || bulk.WriteConcernError != nil {
		return nil, err
	}
	var at []int
	for _, one := range bulk.WriteErrors {
		if !mongo.IsDuplicateKeyError(one) {
			return nil, err
		}
		at = append(at, one.Index)
	}
	return at, nil
}

// ChangeCode changes a code; registry.ErrUnknownCode.
func (r *Registry) ChangeCode(ctx context.Context, tenant string, edit registry.CodeEdit) error {
	found, err := updateIf(ctx, r.codes, ofTenant(tenant, edit.Code), codeUpdate(edit, r.now()))
	if err == nil && !found {
		err = registry.ErrUnknownCode
	}
	if err != nil {
		return fmt.Errorf("change code %s: %w", edit.Code, err)
	}
	return nil
}

// HoldCode writes an operator's hold; registry.ErrUnknownCode.
func (r *Registry) HoldCode(ctx context.Context, tenant, code string, hold roster.Stop) error {
	found, err := updateIf(ctx, r.codes, ofTenant(tenant, code), stopped(nil, holdField, registry.To(hold)))
	if err == nil && !found {
		err = registry.ErrUnknownCode
	}
	if err != nil {
		return fmt.Errorf("hold code %s: %w", code, err)
	}
	return nil
}

// ofTenant finds a code within a tenant's walls.
func ofTenant(tenant, code string) bson.D { return bson.D{kv("_id", code), kv("tenant", tenant)} }

func codeUpdate(edit registry.CodeEdit, now time.Time) bson.D {
	set, unset := bson.D{kv("updated_at", now)}, bson.D(nil)
	if members, ok := edit.Members.Value(); ok {
		set = append(set, kv("members", memberDocsOf(members)))
	}
	if switches, ok := edit.Switches.Value(); ok {
		set = append(set, kv("switches", switchesDoc(switches)))
	}
	set = given(set, "config_id", edit.ConfigID)
	set = given(set, "family", edit.Family)
	set = given(set, "backups", edit.Backups)
	set = given(set, "on_empty", edit.OnEmpty)
	set = given(set, "lane", edit.Lane)
	set = given(set, "mode", edit.Mode)
	set = given(set, "remark", edit.Remark)
	set = given(set, "state", edit.State)
	set = given(set, "skip_verify", edit.SkipVerify)
	set = given(set, "deleted", edit.Deleted)
	if deleted, ok := edit.Deleted.Value(); ok && deleted {
		set = append(set, kv("deleted_at", now))
	} else if ok {
		unset = append(unset, kv("deleted_at", ""))
	}
	update := merge(merge(nil, "$set", set), "$unset", unset)
	if _, switched := edit.Mode.Value(); switched {
		update = merge(update, "$inc", newTerm)
	}
	return merge(update, "$inc", bson.D{kv("revision", int64(1))})
}
