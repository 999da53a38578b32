package mongostore

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Additions are kept by day for DaysKept days; an addition removes the
// DaysPruned days before those, which bounds the documents without a loop of
// its own.
const (
	DaysKept   = 7
	DaysPruned = 31
)

// Addition is one customer that a staff member got through a code.
type Addition struct {
	push.Ref
	Staff string
	Day   roster.Day // in the tenant's time zone
}

// CountAddition counts an addition: on the code in all, on the day and in the
// current round, then company-wide on the day. The two documents are two
// writes: after an error neither, one or both may have happened, and a repeat
// counts again.
func (f *Facts) CountAddition(ctx context.Context, a Addition) error {
	if err := checkStaffID(a.Staff); err != nil {
		return fmt.Errorf("count an addition on code %s: %w", a.Code, err)
	}
	day, err := time.Parse("20060102", string(a.Day))
	if err != nil {
		return fmt.Errorf("count an addition on code %s: day %q is not YYYYMMDD", a.Code, a.Day)
	}
	staff := fieldName(a.Staff)
	err = upsert(ctx, f.counters, a.Code, bson.D{
		kv("$inc", bson.D{
			kv("total."+staff, 1),
			kv("days."+string(a.Day)+"."+staff, 1),
			kv("in_round."+staff, 1),
		}),
		kv("$unset", prunedDays("days", day)),
		kv("$setOnInsert", bson.D{kv("tenant", a.Tenant)}),
	})
	if err != nil {
		return fmt.Errorf("count an addition on code %s: %w", a.Code, err)
	}
	return f.editStaff(ctx, "count an addition of", a.Tenant, a.Staff, bson.D{
		kv("$inc", bson.D{kv("added."+string(a.Day), 1)}),
		kv("$unset", prunedDays("added", day)),
	})
}

// prunedDays are the fields of the days that are no longer kept on a day.
func prunedDays(under string, day time.Time) bson.D {
	var unset bson.D
	for i := range DaysPruned {
		old := roster.DayOf(day.AddDate(0, 0, -DaysKept-i), time.UTC)
		unset = append(unset, kv(under+"."+string(old), ""))
	}
	return unset
}
