package mongostore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// A record has two places for an instant at which time alone changes its
// verdict: the one that refreshes expect, and the one that the keeper has taken
// and not finished. Whoever refreshes looks at the first only. So an event that
// the keeper publishes comes after the instant has left the refreshes' sight,
// and a refresh that still relied on it has that event coming; and what was
// taken when the keeper died is found again.
const (
	nextChangeField = "next_change"
	takenField      = "taken_change"
)

// Changes are the next changes of the records, as the keeper sees them.
type Changes struct {
	records *mongo.Collection
}

// Changes returns the codes that time alone changes.
func (d *Database) Changes() *Changes {
	return &Changes{records: d.db.Collection(recordsCollection)}
}

// Change is a code whose next change has come, as the keeper took it.
type Change struct {
	push.Ref
	At      time.Time // when it came, or until when it was put off
	Version string    // of this taking, never used twice
}

// changeDoc is what is asked of a record: its list may be long.
type changeDoc struct {
	Tenant     string    `bson:"tenant"`
	Code       string    `bson:"code"`
	NextChange time.Time `bson:"next_change"`
	Taken      takenDoc  `bson:"taken_change"`
}

type takenDoc struct {
	At      time.Time `bson:"at"`
	Version string    `bson:"version"`
}

var changeFields = bson.D{kv("_id", 0), kv("tenant", 1), kv("code", 1), kv(nextChangeField, 1), kv(takenField, 1)}

// DueTenants returns the tenants that have a change to take at now, or one that
// was taken and not finished, in no order.
func (c *Changes) DueTenants(ctx context.Context, now time.Time) ([]string, error) {
	var all []string
	for _, place := range []string{nextChangeField, takenField + ".at"} {
		var tenants []string
		// A bound on the tenants lets a server walk the index from one to the next.
		due := bson.D{kv("tenant", bson.D{kv("$gt", "")}), kv(place, bson.D{kv("$lte", now)})}
		if err := c.records.Distinct(ctx, "tenant", due).Decode(&tenants); err != nil {
			return nil, fmt.Errorf("find the tenants with due changes: %w", err)
		}
		all = append(all, tenants...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// Take returns at most limit changes (at least 1) of a tenant: first those that
// were taken and not finished, then those that are due, the earliest first. The
// latter are out of the refreshes' sight when it returns. It is three round
// trips, or two.
func (c *Changes) Take(ctx context.Context, tenant string, now time.Time, limit int) ([]Change, error) {
	taken, err := c.find(ctx, tenant, takenField+".at", now, limit)
	if err != nil || len(taken) >= limit {
		return taken, err
	}
	due, err := c.find(ctx, tenant, nextChangeField, now, limit-len(taken))
	if err != nil {
		return nil, err
	}
	if err := c.take(ctx, due); err != nil {
		return nil, err
	}
	return append(taken, due...), nil
}

func (c *Changes) find(ctx context.Context, tenant, place string, now time.Time, limit int) ([]Change, error) {
	docs, err := findAll[changeDoc](ctx, c.records,
		bson.D{kv("tenant", tenant), kv(place, bson.D{kv("$lte", now)})},
		page(limit).SetSort(bson.D{kv(place, 1)}).SetProjection(changeFields))
	changes := make([]Change, len(docs))
	for i, doc := range docs {
		changes[i] = Change{Ref: push.Ref{Tenant: doc.Tenant, Code: doc.Code}, At: utc(doc.Taken.At), Version: doc.Taken.Version}
		if place == nextChangeField {
			changes[i].At, changes[i].Version = utc(doc.NextChange), newVersion()
		}
	}
	return changes, err
}

// take moves due changes to the keeper's place. One that a refresh has brought
// forward meanwhile stays, and is due again.
func (c *Changes) take(ctx context.Context, due []Change) error {
	moves := make([]mongo.WriteModel, len(due))
	for i, change := range due {
		moves[i] = mongo.NewUpdateOneModel().
			SetFilter(bson.D{kv("_id", refID(change.Ref)), kv(nextChangeField, change.At)}).
			SetUpdate(bson.D{
				kv("$set", bson.D{kv(takenField, takenDoc{At: change.At, Version: change.Version})}),
				kv("$unset", bson.D{kv(nextChangeField, "")}),
			})
	}
	if _, err := c.write(ctx, moves); err != nil {
		return fmt.Errorf("take %d due changes: %w", len(due), err)
	}
	return nil
}

// Finish forgets changes whose events are stored, in one round trip, and returns
// how many: one that was taken again since stays. Of a Change only Ref and
// Version count. After an error some may be forgotten.
func (c *Changes) Finish(ctx context.Context, changes ...Change) (int, error) {
	ends := make([]mongo.WriteModel, len(changes))
	for i, change := range changes {
		ends[i] = mongo.NewUpdateOneModel().
			SetFilter(bson.D{kv("_id", refID(change.Ref)), kv(takenField+".version", change.Version)}).
			SetUpdate(bson.D{kv("$unset", bson.D{kv(takenField, "")})})
	}
	finished, err := c.write(ctx, ends)
	if err != nil {
		return finished, fmt.Errorf("finish %d changes: %w", len(changes), err)
	}
	return finished, nil
}

// Postpone puts a taken change off. False: it was taken again since, or finished.
func (c *Changes) Postpone(ctx context.Context, change Change, until time.Time) (bool, error) {
	put, err := updateIf(ctx, c.records,
		bson.D{kv("_id", refID(change.Ref)), kv(takenField+".version", change.Version)},
		bson.D{kv("$set", bson.D{kv(takenField, takenDoc{At: until, Version: newVersion()})})})
	if err != nil {
		return false, fmt.Errorf("postpone the change of code %s: %w", change.Code, err)
	}
	return put, nil
}

func (c *Changes) write(ctx context.Context, writes []mongo.WriteModel) (int, error) {
	if len(writes) == 0 {
		return 0, nil
	}
	result, err := c.records.BulkWrite(ctx, writes, options.BulkWrite().SetOrdered(false))
	if result == nil {
		return 0, err
	}
	return int(result.MatchedCount), err
}
