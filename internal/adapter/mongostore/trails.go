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
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/trail"
)

const trailsCollection = "trails"

// TrailsKept is how long a trail is kept to which nothing is added.
const TrailsKept = 90 * 24 * time.Hour

// Trails keeps what happened to codes: a document a code, with its newest entries.
type Trails struct {
	trails *mongo.Collection
	now    func() time.Time
}

var _ trail.Store = (*Trails)(nil)

// Trails returns the codes' trails.
func (d *Database) Trails() *Trails {
	return &Trails{trails: d.db.Collection(trailsCollection), now: d.now}
}

// trailDoc is a document of the collection trails; its _id is the code's.
type trailDoc struct {
	Tenant  string       `bson:"tenant"`
	Entries []trailEntry `bson:"entries"`
}

// trailEntry has short names: there are many.
type trailEntry struct {
	At     time.Time     `bson:"t"`
	Kind   trail.Kind    `bson:"k"`
	Epoch  int64         `bson:"e,omitempty"`
	Moves  []trailMove   `bson:"m,omitempty"`
	Size   int           `bson:"n,omitempty"`
	Cause  reason.Reason `bson:"c,omitempty"`
	Until  time.Time     `bson:"u,omitempty"`
	Detail string        `bson:"d,omitempty"`
	Staff  string        `bson:"s,omitempty"`
	Count  int           `bson:"x,omitempty"`
	Limit  int           `bson:"l,omitempty"`
}

type trailMove struct {
	Staff string        `bson:"s"`
	Came  bool          `bson:"i,omitempty"`
	Why   reason.Reason `bson:"w,omitempty"`
}

// maxTrailDetail bounds what a vendor or a driver says.
const maxTrailDetail = 200

// Append adds entries, with a write a code.
func (t *Trails) Append(ctx context.Context, entries []trail.Noted) error {
	of := map[push.Ref]bson.A{}
	var order []push.Ref
	for _, n := range entries {
		if _, seen := of[n.Ref]; !seen {
			order = append(order, n.Ref)
		}
		of[n.Ref] = append(of[n.Ref], trailEntryOf(n.Entry))
	}
	models := make([]mongo.WriteModel, len(order))
	for i, ref := range order {
		models[i] = mongo.NewUpdateOneModel().SetFilter(byID(ref.Code)).SetUpsert(true).SetUpdate(bson.D{
			kv("$push", bson.D{kv("entries", bson.D{kv("$each", of[ref]), kv("$slice", -trail.Kept)})}),
			kv("$set", bson.D{kv("tenant", ref.Tenant), kv("last", t.now())}),
		})
	}
	for chunk := range slices.Chunk(models, batch) {
		if _, err := t.trails.BulkWrite(ctx, chunk, options.BulkWrite().SetOrdered(false)); err != nil {
			return fmt.Errorf("add to the trails of %d codes: %w", len(order), err)
		}
	}
	return nil
}

// Of returns a code's entries, oldest first; of another tenant's code none.
func (t *Trails) Of(ctx context.Context, ref push.Ref) ([]trail.Entry, error) {
	doc, found, err := findOne[trailDoc](ctx, t.trails, ref.Code, nil)
	if err != nil || !found || doc.Tenant != ref.Tenant {
		return nil, err
	}
	entries := make([]trail.Entry, len(doc.Entries))
	for i, e := range doc.Entries {
		entries[i] = e.entry()
	}
	// Several processes write: they arrive almost in order.
	slices.SortStableFunc(entries, func(a, b trail.Entry) int { return a.At.Compare(b.At) })
	return entries, nil
}

func trailEntryOf(e trail.Entry) trailEntry {
	detail := e.Detail
	if runes := []rune(detail); len(runes) > maxTrailDetail {
		detail = string(runes[:maxTrailDetail])
	}
	out := trailEntry{
		At: e.At, Kind: e.Kind, Epoch: e.Epoch, Size: e.Size, Cause: e.Cause, Until: e.Until, Detail: detail,
		Staff: e.Staff, Count: e.Count, Limit: e.Limit,
	}
	for _, m := range e.Moves {
		out.Moves = append(out.Moves, trailMove(m))
	}
	return out
}

func (e trailEntry) entry() trail.Entry {
	out := trail.Entry{
		At: e.At.UTC(), Kind: e.Kind, Epoch: e.Epoch, Size: e.Size, Cause: e.Cause, Detail: e.Detail,
		Staff: e.Staff, Count: e.Count, Limit: e.Limit,
	}
	if !e.Until.IsZero() {
		out.Until = e.Until.UTC()
	}
	for _, m := range e.Moves {
		out.Moves = append(out.Moves, trail.Move(m))
	}
	return out
}
