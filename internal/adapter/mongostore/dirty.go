package mongostore

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Dirty is the set of codes that could not be finished, one entry a code. It
// is push.Dirty and what the keeper and an operator need beside it.
type Dirty struct {
	entries *mongo.Collection
	now     func() time.Time
}

var _ push.Dirty = (*Dirty)(nil)

// DirtyEntry is what is known of a dirty code.
type DirtyEntry struct {
	push.Ref
	Reasons   []reason.Reason // each once, in the order of their first mark
	Detail    string          // of the last mark
	State     push.DirtyState
	Due       time.Time // the earliest of the marks since it was postponed; zero once released
	Released  time.Time // when the broker had its event last; zero: never
	Confirm   time.Time // when a released code is looked at
	FirstSeen time.Time
	LastSeen  time.Time // of the last mark
	Count     int       // marks
	Attempts  int       // postponements and releases
	// Version changes with all that happens to the entry and is never used twice,
	// not even by an entry that was removed and made again.
	Version string
}

// dirtyDoc is a document of the collection dirty.
type dirtyDoc struct {
	ID        string          `bson:"_id"` // tenant/code
	Tenant    string          `bson:"tenant"`
	Code      string          `bson:"code"`
	Reasons   []reason.Reason `bson:"reasons"`
	Detail    string          `bson:"detail"`
	State     push.DirtyState `bson:"state"`
	Due       time.Time       `bson:"due,omitempty"` // not of a released one
	Released  time.Time       `bson:"released,omitempty"`
	Confirm   time.Time       `bson:"confirm,omitempty"` // of a released one
	FirstSeen time.Time       `bson:"first_seen"`
	LastSeen  time.Time       `bson:"last_seen"`
	Count     int             `bson:"count"`
	Attempts  int             `bson:"attempts"`
	Version   string          `bson:"version"`
}

func (d dirtyDoc) entry() DirtyEntry {
	return DirtyEntry{
		Ref:       push.Ref{Tenant: d.Tenant, Code: d.Code},
		Reasons:   d.Reasons,
		Detail:    d.Detail,
		State:     d.State,
		Due:       utc(d.Due),
		Released:  utc(d.Released),
		Confirm:   utc(d.Confirm),
		FirstSeen: utc(d.FirstSeen),
		LastSeen:  utc(d.LastSeen),
		Count:     d.Count,
		Attempts:  d.Attempts,
		Version:   d.Version,
	}
}

// Mark makes codes dirty, or adds a reason to dirty ones. The earliest due
// time wins: a code that is released too early is looked at once more and
// waits again, one that is released too late is stale for longer.
func (d *Dirty) Mark(ctx context.Context, marks ...push.Mark) error {
	if len(marks) == 1 {
		if err := upsert(ctx, d.entries, refID(marks[0].Ref), d.markUpdate(marks[0])); err != nil {
			return fmt.Errorf("mark code %s dirty: %w", marks[0].Code, err)
		}
		return nil
	}
	writes := make([]write, len(marks)) // a code may be in it twice, and is then written twice
	for i, mark := range marks {
		writes[i] = write{id: refID(mark.Ref), update: d.markUpdate(mark)}
	}
	if err := writeAll(ctx, d.entries, writes); err != nil {
		return fmt.Errorf("mark %d codes dirty: %w", len(marks), err)
	}
	return nil
}

func (d *Dirty) markUpdate(mark push.Mark) bson.D {
	now, state := d.now(), push.StateOf(mark.Reason)
	set, fresh := bson.D{kv("detail", mark.Detail), kv("last_seen", now), kv("version", newVersion())}, owner(mark.Ref)
	if state == push.DirtyWaits {
		set = append(set, kv("attempts", 0)) // a wait is no failure of what was tried before
	} else {
		fresh = append(fresh, kv("attempts", 0))
	}
	return bson.D{
		kv("$setOnInsert", append(fresh, kv("first_seen", now), kv("first_reason", mark.Reason))),
		kv("$set", set),
		kv("$addToSet", bson.D{kv("reasons", mark.Reason)}),
		kv("$min", bson.D{kv("due", mark.Due), kv("state", state)}),
		kv("$unset", bson.D{kv("confirm", "")}),
		kv("$inc", bson.D{kv("count", 1)}),
	}
}

// DirtyCount is what the set holds of codes that were first marked with one
// reason.
type DirtyCount struct {
	Reason reason.Reason `bson:"_id"`
	Codes  int           `bson:"codes"`
	Oldest time.Time     `bson:"oldest"` // when the oldest of them was first marked
}

// Count counts the set by reason. It reads the whole set: twice a minute is fine.
func (d *Dirty) Count(ctx context.Context) ([]DirtyCount, error) {
	cursor, err := d.entries.Aggregate(ctx, mongo.Pipeline{{kv("$group", bson.D{
		kv("_id", "$first_reason"),
		kv("codes", bson.D{kv("$sum", 1)}),
		kv("oldest", bson.D{kv("$min", "$first_seen")}),
	})}})
	if err != nil {
		return nil, fmt.Errorf("count the dirty set: %w", err)
	}
	var counts []DirtyCount
	if err := cursor.All(ctx, &counts); err != nil {
		return nil, fmt.Errorf("count the dirty set: %w", err)
	}
	return counts, nil
}

// Get returns the entry of a code and whether it is dirty.
func (d *Dirty) Get(ctx context.Context, ref push.Ref) (DirtyEntry, bool, error) {
	doc, found, err := findOne[dirtyDoc](ctx, d.entries, refID(ref), nil)
	return doc.entry(), found, err
}

// List returns at most limit entries (at least 1) after a code, in the order of
// their _ids; the zero Ref begins. It is for an operator.
func (d *Dirty) List(ctx context.Context, after push.Ref, limit int) ([]DirtyEntry, error) {
	return d.find(ctx, limit, afterRef(after), bson.D{kv("_id", 1)})
}

// DueTenants returns the tenants that have an entry in a state whose time has come
// at now, in no order.
func (d *Dirty) DueTenants(ctx context.Context, state push.DirtyState, now time.Time) ([]string, error) {
	var tenants []string
	// A bound on the tenants lets a server walk the index from one to the next.
	due := bson.D{inState(state), kv("tenant", bson.D{kv("$gt", "")}), dueAt(now)}
	if err := d.entries.Distinct(ctx, "tenant", due).Decode(&tenants); err != nil {
		return nil, fmt.Errorf("find the tenants with dirty codes (%s): %w", state, err)
	}
	return tenants, nil
}

// DueOf returns at most limit entries of a tenant (at least 1) in a state whose time
// has come at now, the earliest first.
func (d *Dirty) DueOf(ctx context.Context, state push.DirtyState, tenant string, now time.Time, limit int) ([]DirtyEntry, error) {
	return d.find(ctx, limit, bson.D{inState(state), kv("tenant", tenant), dueAt(now)}, bson.D{kv("due", 1), kv("_id", 1)})
}

// inState finds the entries in a state. One from before there were states waits.
func inState(state push.DirtyState) bson.E {
	if state == push.DirtyWaits {
		return kv("state", bson.D{kv("$in", bson.A{state, nil})})
	}
	return kv("state", state)
}

// Unconfirmed returns at most limit released entries (at least 1) that are to be
// looked at by now, the earliest first.
func (d *Dirty) Unconfirmed(ctx context.Context, now time.Time, limit int) ([]DirtyEntry, error) {
	return d.find(ctx, limit, bson.D{kv("confirm", bson.D{kv("$lte", now)})}, bson.D{kv("confirm", 1), kv("_id", 1)})
}

func dueAt(now time.Time) bson.E { return kv("due", bson.D{kv("$lte", now)}) }

func (d *Dirty) find(ctx context.Context, limit int, filter, order bson.D) ([]DirtyEntry, error) {
	docs, err := findAll[dirtyDoc](ctx, d.entries, filter, page(limit).SetSort(order))
	entries := make([]DirtyEntry, 0, len(docs))
	for _, doc := range docs {
		entries = append(entries, doc.entry())
	}
	return entries, err
}

// Postpone makes an entry due again at until, and counts an attempt, if its
// version is still seen. False: somebody else marked, postponed or removed it.
func (d *Dirty) Postpone(ctx context.Context, ref push.Ref, seen string, until time.Time) (bool, error) {
	postponed, err := updateIf(ctx, d.entries, seenEntry(ref, seen), bson.D{
		kv("$set", bson.D{kv("due", until), kv("version", newVersion())}),
		kv("$inc", bson.D{kv("attempts", 1)}),
	})
	if err != nil {
		return false, fmt.Errorf("postpone dirty code %s: %w", ref.Code, err)
	}
	return postponed, nil
}

// Seen is an entry as somebody saw it.
type Seen struct {
	push.Ref
	Version string
	// At is when it is to be looked at, or due, after what is done to it.
	At time.Time
}

// Release notes that the broker has the events of codes, each to be looked at by
// its At, in one round trip; it counts an attempt. What was marked or postponed
// since it was seen stays as it is. It returns how many were released.
func (d *Dirty) Release(ctx context.Context, seen ...Seen) (int, error) {
	return d.change(ctx, "release", seen, func(s Seen) bson.D {
		return bson.D{
			kv("$set", bson.D{kv("state", push.DirtyReleased), kv("released", d.now()), kv("confirm", s.At), kv("version", newVersion())}),
			kv("$unset", bson.D{kv("due", "")}),
			kv("$inc", bson.D{kv("attempts", 1)}),
		}
	})
}

// Defer puts the look at released codes off until their At.
func (d *Dirty) Defer(ctx context.Context, seen ...Seen) (int, error) {
	return d.change(ctx, "defer", seen, func(s Seen) bson.D {
		return bson.D{kv("$set", bson.D{kv("confirm", s.At), kv("version", newVersion())})}
	})
}

// Repeat makes codes due again at their At, as something to mend.
func (d *Dirty) Repeat(ctx context.Context, seen ...Seen) (int, error) {
	return d.change(ctx, "repeat", seen, func(s Seen) bson.D {
		return bson.D{
			kv("$set", bson.D{kv("state", push.DirtyRepair), kv("due", s.At), kv("version", newVersion())}),
			kv("$unset", bson.D{kv("confirm", "")}),
		}
	})
}

// change updates those entries whose version is still the one seen.
func (d *Dirty) change(ctx context.Context, what string, seen []Seen, update func(Seen) bson.D) (int, error) {
	if len(seen) == 0 {
		return 0, nil
	}
	writes := make([]mongo.WriteModel, len(seen))
	for i, s := range seen {
		writes[i] = mongo.NewUpdateOneModel().SetFilter(seenEntry(s.Ref, s.Version)).SetUpdate(update(s))
	}
	result, err := d.entries.BulkWrite(ctx, writes, options.BulkWrite().SetOrdered(false))
	changed := 0
	if result != nil {
		changed = int(result.MatchedCount)
	}
	if err != nil {
		return changed, fmt.Errorf("%s %d dirty codes: %w", what, len(seen), err)
	}
	return changed, nil
}

// Remove takes codes out of the set, in one round trip, and returns how many:
// an entry stays when somebody marked or postponed it since it was seen. After
// an error some may have been removed.
func (d *Dirty) Remove(ctx context.Context, seen ...Seen) (int, error) {
	if len(seen) == 0 {
		return 0, nil
	}
	removals := make([]mongo.WriteModel, len(seen))
	for i, s := range seen {
		removals[i] = mongo.NewDeleteOneModel().SetFilter(seenEntry(s.Ref, s.Version))
	}
	result, err := d.entries.BulkWrite(ctx, removals, options.BulkWrite().SetOrdered(false))
	removed := 0
	if result != nil {
		removed = int(result.DeletedCount)
	}
	if err != nil {
		return removed, fmt.Errorf("remove %d dirty codes: %w", len(seen), err)
	}
	return removed, nil
}

func seenEntry(ref push.Ref, version string) bson.D {
	return bson.D{kv("_id", refID(ref)), kv("version", version)}
}

// newVersion returns a value that no other call returns, in any process.
func newVersion() string { return bson.NewObjectID().Hex() }

// afterRef is the filter of what comes after a code in the order of the _ids.
func afterRef(after push.Ref) bson.D {
	if after == (push.Ref{}) {
		return bson.D{}
	}
	return bson.D{kv("_id", bson.D{kv("$gt", refID(after))})}
}

// page bounds a find to at most limit documents in one round trip.
func page(limit int) *options.FindOptionsBuilder {
	limit = max(limit, 1)
	return options.Find().SetLimit(int64(limit)).SetBatchSize(int32(min(limit, 1<<20)))
}

func findAll[T any](ctx context.Context, from *mongo.Collection, filter bson.D, opts *options.FindOptionsBuilder) ([]T, error) {
	cursor, err := from.Find(ctx, filter, opts)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", from.Name(), err)
	}
	var docs []T
	if err := cursor.All(ctx, &docs); err != nil {
		return nil, fmt.Errorf("list %s: %w", from.Name(), err)
	}
	return docs, nil
}
