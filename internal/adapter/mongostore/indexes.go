package mongostore

import (
	"context"
	"fmt"
	"time"

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
	options    func() *options.IndexOptionsBuilder
}{
	// Which codes does a staff member sit on? (fan-outs)
	{codesCollection, "tenant_member_code", bson.D{kv("tenant", 1), kv("members.staff", 1), kv("_id", 1)}, options.Index},
	{codesCollection, "tenant_backup_code", bson.D{kv("tenant", 1), kv("backups", 1), kv("_id", 1)}, options.Index},
	{codesCollection, "tenant_empty_code", bson.D{kv("tenant", 1), kv("on_empty", 1), kv("_id", 1)}, options.Index},
	// Which codes does a tenant have, by page? (tenant-wide fan-outs, the audit)
	{codesCollection, "tenant_code", bson.D{kv("tenant", 1), kv("_id", 1)}, options.Index},
	// Quota.CodeWith.
	{codesCollection, "tenant_state", bson.D{kv("tenant", 1), kv("state", 1)}, options.Index},
	// Quota.Open, Quota.Done, and the end of a contact.
	{contactsCollection, "open_since", bson.D{kv("open_since", 1)}, sparse},
	{contactsCollection, "done_since", bson.D{kv("done_since", 1)}, sparse},
	{contactsCollection, "kept", bson.D{kv("at", 1)}, expiring(ContactsKept)},
	// FanOuts.Open, UnderWay, List, Clear.
	{fanOutsCollection, "open", bson.D{kv("state", 1), kv("requested", 1)}, options.Index},
	{fanOutsCollection, "tenant_job", bson.D{kv("tenant", 1), kv("_id", 1)}, options.Index},
	{fanOutRowsCollection, "job_epoch", bson.D{kv("job", 1), kv("epoch", 1)}, options.Index},
	// Store.ListNoted, ListFailures, Expired.
	{recordsCollection, "notes", bson.D{kv("committed.notes", 1)}, sparse},
	{recordsCollection, "failure_streak", bson.D{kv("failure.streak", 1)}, sparse},
	{recordsCollection, "intent_deadline", bson.D{kv("intents.deadline", 1)}, sparse},
	// Changes.DueTenants, Take. Sparse, an index that begins with the tenant would
	// hold every record.
	{recordsCollection, "tenant_next_change", bson.D{kv("tenant", 1), kv(nextChangeField, 1)}, having(nextChangeField)},
	{recordsCollection, "taken_change", bson.D{kv(takenField+".at", 1)}, sparse},
	// Deliveries.DueLanes, Due, Backlog; HeldTenants, Held; Prune, List.
	{deliveriesCollection, "open_due", bson.D{kv("open.due", 1), kv("open.lane", 1)}, sparse},
	{deliveriesCollection, "open_lane_due", bson.D{kv("open.lane", 1), kv("open.due", 1)}, sparse},
	{deliveriesCollection, "open_filed", bson.D{kv("open.filed_at", 1)}, sparse},
	{deliveriesCollection, "held_filed", bson.D{kv("held.tenant", 1), kv("held.filed_at", 1)}, sparse},
	{deliveriesCollection, "state_at", bson.D{kv("state", 1), kv("at", 1)}, options.Index},
	{poolsCollection, "day", bson.D{kv("day", 1)}, options.Index},
	// Ways.HolderOf, Ways.DueTenants, Ways.Due.
	{codesCollection, "tenant_config", bson.D{kv("tenant", 1), kv("config_id", 1)}, options.Index},
	{waysCollection, "due", bson.D{kv("due", 1)}, sparse},
	{waysCollection, "tenant_due", bson.D{kv("tenant", 1), kv("due", 1), kv("_id", 1)}, having("due")},
	// Shadows.Due.
	{shadowsCollection, "changed", bson.D{kv(changedField, 1)}, sparse},
	// Spots.List; a difference and a day are forgotten after a while; Spots.Since.
	{spotDifferencesCollection, "tenant_code", bson.D{kv("tenant", 1), kv("_id", 1)}, options.Index},
	{spotDifferencesCollection, "state_code", bson.D{kv("state", 1), kv("_id", 1)}, options.Index},
	{spotDifferencesCollection, "kept", bson.D{kv("last_seen", 1)}, expiring(DifferencesKept)},
	{spotDaysCollection, "kept", bson.D{kv("counted", 1)}, expiring(SpotDaysKept)},
	{spotDaysCollection, "day_tenant", bson.D{kv("day", 1), kv("tenant", 1)}, options.Index},
	// Imports.Clear; Adoptions.Holders goes by tenant_config.
	{importRowsCollection, "tenant_run", bson.D{kv("tenant", 1), kv("run", 1)}, options.Index},
	// Registry.LeftBehind.
	{tenantsCollection, "unannounced", bson.D{kv(unannounced, 1)}, sparse},
	{staffCollection, "unannounced", bson.D{kv(unannounced, 1)}, sparse},
	// Findings.List, and the end of a finding.
	{findingsCollection, "kept", bson.D{kv("last_seen", 1)}, expiring(FindingsKept)},
	{trailsCollection, "kept", bson.D{kv("t", 1)}, expiring(TrailsKept)},
	// Answers: an answer is forgotten at its instant.
	{idempotencyCollection, "expired", bson.D{kv("expires", 1)}, expiring(0)},
	// Dirty.DueTenants, DueOf: a tenant's storm is not in another's way; Unconfirmed.
	{dirtyCollection, "state_tenant_due", bson.D{kv("state", 1), kv("tenant", 1), kv("due", 1), kv("_id", 1)}, options.Index},
	{dirtyCollection, "confirm", bson.D{kv("confirm", 1), kv("_id", 1)}, having("confirm")},
	// Dirty.OfCode.
	{dirtyCollection, "code", bson.D{kv("code", 1)}, options.Index},
	// Decisions.List, and the end of a decision.
	{decisionsCollection, "newest", bson.D{kv("at", -1), kv("_id", -1)}, options.Index},
	// Decisions.ListOf.
	{decisionsCollection, "tenant_newest", bson.D{kv("tenant", 1), kv("at", -1), kv("_id", -1)}, having("tenant")},
	{decisionsCollection, "kept", bson.D{kv("at", 1)}, expiring(DecisionsKept)},
}

// having holds the documents with a field only.
func having(field string) func() *options.IndexOptionsBuilder {
	return func() *options.IndexOptionsBuilder {
		return options.Index().SetPartialFilterExpression(bson.D{kv(field, bson.D{kv("$exists", true)})})
	}
}

func sparse() *options.IndexOptionsBuilder { return options.Index().SetSparse(true) }

// expiring has a document removed some time after the instant in its field.
func expiring(after time.Duration) func() *options.IndexOptionsBuilder {
	return func() *options.IndexOptionsBuilder {
		return options.Index().SetExpireAfterSeconds(int32(after / time.Second))
	}
}

// EnsureIndexes creates the indexes that are missing. It may be repeated, and
// run by several processes at once; on large collections it takes minutes, so
// give ctx a deadline of its own.
func (d *Database) EnsureIndexes(ctx context.Context) error {
	byCollection := map[string][]mongo.IndexModel{}
	for _, index := range indexes {
		byCollection[index.collection] = append(byCollection[index.collection],
			mongo.IndexModel{Keys: index.keys, Options: index.options().SetName(index.name)})
	}
	for collection, models := range byCollection {
		if _, err := d.db.Collection(collection).Indexes().CreateMany(ctx, models); err != nil {
			return fmt.Errorf("create the indexes of %s: %w", collection, err)
		}
	}
	return nil
}
