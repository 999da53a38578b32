package mongostore

import (
	"context"
	"fmt"
	"iter"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/rollcall-dev/rollcall/internal/backstop/spot"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// spotDaysCollection is Rollcall's own: what was counted, for each tenant and day.
const spotDaysCollection = "spot_days"

// SpotDaysKept is how long a day is kept.
const SpotDaysKept = 400 * 24 * time.Hour

// spotDayDoc is a document of the collection spot_days.
type spotDayDoc struct {
	ID        string     `bson:"_id"` // tenant/day
	Tenant    string     `bson:"tenant"`
	Day       roster.Day `bson:"day"`
	Checked   int64      `bson:"checked"`
	Differ    int64      `bson:"differ"`
	Skipped   int64      `bson:"skipped"`
	Unsettled int64      `bson:"unsettled"`
	Counted   time.Time  `bson:"counted"` // the beginning of the day in UTC, by which an index forgets it
}

// Add adds to a tenant's day. A write that the driver repeats on its own counts
// once (a retryable write).
func (s *Spots) Add(ctx context.Context, tenant string, day roster.Day, tally spot.Tally) error {
	counted, err := time.Parse("20060102", string(day))
	if err != nil {
		return fmt.Errorf("count checks of %s: %w", tenant, err)
	}
	err = upsert(ctx, s.days, scoped(tenant, string(day)), bson.D{
		kv("$setOnInsert", bson.D{kv("tenant", tenant), kv("day", day), kv("counted", counted)}),
		kv("$inc", bson.D{
			kv("checked", tally.Checked), kv("differ", tally.Differ),
			kv("skipped", tally.Skipped), kv("unsettled", tally.Unsettled),
		}),
	})
	if err != nil {
		return fmt.Errorf("count checks of %s: %w", tenant, err)
	}
	return nil
}

// Since yields the days from one on, of a tenant or of all.
func (s *Spots) Since(ctx context.Context, tenant string, from roster.Day) iter.Seq2[spot.TenantDay, error] {
	return func(yield func(spot.TenantDay, error) bool) {
		filter := bson.D{kv("day", bson.D{kv("$gte", from)})}
		if tenant != "" {
			filter = append(filter, kv("tenant", tenant))
		}
		cursor, err := s.days.Find(ctx, filter, options.Find())
		if err != nil {
			yield(spot.TenantDay{}, fmt.Errorf("read the spot check's days: %w", err))
			return
		}
		defer func() { _ = cursor.Close(context.WithoutCancel(ctx)) }() // a server closes it by itself after a while
		for cursor.Next(ctx) {
			var doc spotDayDoc
			err := cursor.Decode(&doc)
			if !yield(doc.tenantDay(), err) || err != nil {
				return
			}
		}
		if err := cursor.Err(); err != nil {
			yield(spot.TenantDay{}, fmt.Errorf("read the spot check's days: %w", err))
		}
	}
}

func (d spotDayDoc) tenantDay() spot.TenantDay {
	return spot.TenantDay{Tenant: d.Tenant, Day: d.Day, Tally: spot.Tally{
		Checked: d.Checked, Differ: d.Differ, Skipped: d.Skipped, Unsettled: d.Unsettled,
	}}
}
