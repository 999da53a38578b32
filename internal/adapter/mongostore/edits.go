package mongostore

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// CodeEdit is a change of a code by a producer: what is nil stays.
type CodeEdit struct {
	Members    *[]roster.Member
	Backups    *[]string
	Switches   *roster.Switches
	OnEmpty    *roster.EmptyPolicy
	Lane       *roster.LaneSwitch
	Remark     *string
	State      *string
	SkipVerify *bool
	Deleted    *bool
}

// EditCode changes a code and raises its revision, in one update, so that a
// removal of members is known to be meant. A code that is not there, or that
// belongs to another tenant, is push.ErrUnknownCode.
func (f *Facts) EditCode(ctx context.Context, ref push.Ref, edit CodeEdit) error {
	set := append(edit.set(), kv("updated_at", f.now()))
	filter := bson.D{kv("_id", ref.Code), kv("tenant", ref.Tenant)}
	found, err := updateIf(ctx, f.codes, filter, bson.D{
		kv("$set", set),
		kv("$inc", bson.D{kv("revision", int64(1))}),
	})
	if err == nil && !found {
		err = push.ErrUnknownCode
	}
	if err != nil {
		return fmt.Errorf("edit code %s: %w", ref.Code, err)
	}
	return nil
}

func (e CodeEdit) set() bson.D {
	var set bson.D
	if e.Members != nil {
		set = append(set, kv("members", memberDocsOf(*e.Members)))
	}
	if e.Backups != nil {
		set = append(set, kv("backups", *e.Backups))
	}
	if e.Switches != nil {
		set = append(set, kv("switches", switchesDoc(*e.Switches)))
	}
	set = appendSet(set, "on_empty", e.OnEmpty)
	set = appendSet(set, "lane", e.Lane)
	set = appendSet(set, "remark", e.Remark)
	set = appendSet(set, "state", e.State)
	set = appendSet(set, "skip_verify", e.SkipVerify)
	return appendSet(set, "deleted", e.Deleted)
}

func appendSet[T any](set bson.D, name string, value *T) bson.D {
	if value == nil {
		return set
	}
	return append(set, kv(name, *value))
}

// SetPresence writes the online flag of a staff member.
func (f *Facts) SetPresence(ctx context.Context, tenant, staff string, presence roster.Presence) error {
	return f.editStaff(ctx, "set the presence of", tenant, staff, bson.D{
		kv("$set", bson.D{kv("presence", presence)}),
	})
}

// SetSchedule writes the working time of a staff member; nil removes it.
func (f *Facts) SetSchedule(ctx context.Context, tenant, staff string, schedule *roster.Schedule) error {
	update := bson.D{kv("$unset", bson.D{kv("schedule", "")})}
	if schedule != nil {
		update = bson.D{kv("$set", bson.D{kv("schedule", scheduleDocOf(*schedule))})}
	}
	return f.editStaff(ctx, "set the schedule of", tenant, staff, update)
}

// MarkResigned notes that a staff member has left the company.
func (f *Facts) MarkResigned(ctx context.Context, tenant, staff string) error {
	return f.editStaff(ctx, "mark resigned", tenant, staff, bson.D{
		kv("$set", bson.D{kv("resigned", true)}),
	})
}

// EndQuarantine lets a staff member back in whom Store.Quarantine left out.
func (f *Facts) EndQuarantine(ctx context.Context, tenant, staff string) error {
	return f.editStaff(ctx, "end the quarantine of", tenant, staff, endQuarantine())
}

// MarkRemoved marks a staff member as removed for the rest of a day. It
// reports true to exactly one of its callers for that day, and never moves the
// mark back to an earlier day.
func (f *Facts) MarkRemoved(ctx context.Context, tenant, staff string, day roster.Day) (bool, error) {
	result, err := f.staff.UpdateOne(ctx, byID(scoped(tenant, staff)), bson.D{
		kv("$max", bson.D{kv("removed_on", day)}),
	})
	if err == nil && result.MatchedCount == 0 {
		err = ErrUnknownStaff
	}
	if err != nil {
		return false, fmt.Errorf("mark staff %s removed: %w", staff, err)
	}
	return result.ModifiedCount > 0, nil
}

func (f *Facts) editStaff(ctx context.Context, what, tenant, staff string, update bson.D) error {
	found, err := updateIf(ctx, f.staff, byID(scoped(tenant, staff)), update)
	if err == nil && !found {
		err = ErrUnknownStaff
	}
	if err != nil {
		return fmt.Errorf("%s staff %s: %w", what, staff, err)
	}
	return nil
}
