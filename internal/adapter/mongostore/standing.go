package mongostore

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// MarkRemoved marks a staff member as removed for the rest of a day, unless he
// is for that day or a later one. The mark names who made it.
func (q *Quota) MarkRemoved(ctx context.Context, tenant, staff string, day roster.Day, by string) (string, error) {
	id := scoped(tenant, staff)
	won, err := updateIf(ctx, q.staff, append(byID(id), before("removed_on", string(day))), bson.D{
		kv("$set", bson.D{kv("removed_on", string(day)), kv("removed_by", by)}),
	})
	if err == nil && !won {
		by, err = q.removedBy(ctx, id, day)
	}
	if err != nil {
		return "", fmt.Errorf("mark staff %s removed: %w", staff, err)
	}
	return by, nil
}

// removedBy is the name on a day's mark.
func (q *Quota) removedBy(ctx context.Context, id string, day roster.Day) (string, error) {
	mark, _, err := findOne[struct {
		On string `bson:"removed_on"`
		By string `bson:"removed_by"`
	}](ctx, q.staff, id, fields([]string{"removed_on", "removed_by"}))
	if err != nil || mark.On != string(day) {
		return "", err
	}
	return mark.By, nil
}

// before is the condition that a field is less than a value, or missing.
func before(field string, value any) bson.E {
	return kv("$or", bson.A{
		bson.D{kv(field, bson.D{kv("$lt", value)})},
		bson.D{kv(field, nil)},
	})
}

// inactiveFor is how long a member is left out whose account is disabled or not
// activated: until WeCom says otherwise, for all that matters.
const inactiveFor = 10 * 365 * 24 * time.Hour

// whyInactive is what a person reads.
const whyInactive = "WeCom says that the account is disabled or not activated"

// Apply writes a change of a staff member that WeCom tells of. One that is older
// than the last one written changes nothing; the same one may be repeated.
func (q *Quota) Apply(ctx context.Context, change quota.StaffChange) (quota.Staffing, error) {
	if change.Renamed != "" {
		if err := q.copyStaff(ctx, change); err != nil {
			return "", fmt.Errorf("rename staff %s: %w", change.Staff, err)
		}
	}
	id := scoped(change.Tenant, change.Staff)
	applied, err := updateIf(ctx, q.staff, append(byID(id), before("told_at", change.At.Add(time.Millisecond))), q.staffUpdate(change))
	if err == nil && applied && change.Standing == quota.Active {
		_, err = updateIf(ctx, q.staff, append(byID(id), q.inactive()), endQuarantine())
	}
	known := applied
	if err == nil && !applied {
		_, known, err = findOne[staffDoc](ctx, q.staff, id, fields([]string{"_id"}))
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("write what WeCom tells of staff %s: %w", change.Staff, err)
	case applied:
		return quota.Applied, nil
	case known:
		return quota.Outdated, nil
	}
	return quota.Unlisted, nil
}

func (q *Quota) staffUpdate(change quota.StaffChange) bson.D {
	set := bson.D{kv("told_at", change.At)}
	if change.Departments != nil {
		set = append(set, kv("departments", change.Departments))
	}
	if change.Renamed != "" {
		set = append(set, kv("resigned", true), kv("renamed_to", change.Renamed))
		return bson.D{kv("$set", set)}
	}
	switch change.Standing {
	case quota.Gone:
		set = append(set, kv("resigned", true))
	case quota.Active:
		set = append(set, kv("resigned", false))
	case quota.Inactive:
		set = append(set, kv("quarantined_until", q.now().Add(inactiveFor)), kv("quarantined_why", whyInactive))
	}
	return bson.D{kv("$set", set)}
}

// inactive finds somebody who is out because his account is: no refusal by
// WeCom leaves a member out for as long. Its text says nothing: a push that was
// under way may have been refused since, which noted its own and kept the later
// end.
func (q *Quota) inactive() bson.E {
	return kv("quarantined_until", bson.D{kv("$gt", q.now().Add(inactiveFor/2))})
}

// quarantined are the fields that say that somebody is out.
var quarantined = bson.D{kv("quarantined_until", ""), kv("quarantined_why", "")}

func endQuarantine() bson.D { return bson.D{kv("$unset", quarantined)} }

// copyStaff gives the new name what is known of the old one, unless the new one
// is known already.
func (q *Quota) copyStaff(ctx context.Context, change quota.StaffChange) error {
	doc, found, err := findOne[bson.D](ctx, q.staff, scoped(change.Tenant, change.Staff), nil)
	if err != nil || !found {
		return err
	}
	for i, field := range doc {
		switch field.Key {
		case "_id":
			doc[i].Value = scoped(change.Tenant, change.Renamed)
		case "staff":
			doc[i].Value = change.Renamed
		}
	}
	if _, err = q.staff.InsertOne(ctx, doc); mongo.IsDuplicateKeyError(err) {
		return nil
	}
	return err
}
