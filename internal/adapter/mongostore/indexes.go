package mongostore

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// indexes are those of the slow loops; the hot path uses the _ids alone.
// Sparse ones hold only the documents that have the field: a record without a
// failure, a note or an intent costs nothing there.
var indexes = []struct {
	collection string
	name       string
	keys       bson.D
	sparse     bool
}{
	// Which codes does a staff member sit on? (fan-outs)
	{codesCollection, "tenant_member", bson.D{kv("tenant", 1), kv("members.staff", 1)}, false},
	{codesCollection, "tenant_backup", bson.D{kv("tenant", 1), kv("backups", 1)}, false},
	// Which codes does a tenant have, by page? (tenant-wide fan-outs, the audit)
	{codesCollection, "tenant_code", bson.D{kv("tenant", 1), kv("_id", 1)}, false},
	// Store.ListNoted, ListFailures, Expired.
	{recordsCollection, "notes", bson.D{kv("committed.notes", 1)}, true},
	{recordsCollection, "failure_streak", bson.D{kv("failure.streak", 1)}, true},
	{recordsCollection, "intent_deadline", bson.D{kv("intents.deadline", 1)}, true},
	// Dirty.DueTenants, DueOf: a tenant's storm is not in another's way.
	{dirtyCollection, "tenant_due", bson.D{kv("tenant", 1), kv("due", 1), kv("_id", 1)}, false},
	// Dirty.Due.
	{dirtyCollection, "due", bson.D{kv("due", 1), kv("_id", 1)}, false},
}

// EnsureIndexes creates the indexes that are missing. It may be repeated, and
// run by several processes at once; on large collections it takes minutes, so
// give ctx a deadline of its own.
func (d *Database) EnsureIndexes(ctx context.Context) error {
	byCollection := map[string][]mongo.IndexModel{}
	for _, index := range indexes {
		opts := options.Index().SetName(index.name)
		if index.sparse {
			opts.SetSparse(true)
		}
		byCollection[index.collection] = append(byCollection[index.collection],
			mongo.IndexModel{Keys: index.keys, Options: opts})
	}
	for collection, models := range byCollection {
		if _, err := d.db.Collection(collection).Indexes().CreateMany(ctx, models); err != nil {
			return fmt.Errorf("create the indexes of %s: %w", collection, err)
		}
	}
	return nil
}
