package mongostore

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/recent"
	"github.com/rollcall-dev/rollcall/internal/trail"
)

const trailsCollection = "trails"

// TrailsKept is how long a trail is kept to which nothing is added.
const TrailsKept = trail.KeptFor

// prunedLately is how many codes are remembered whose trails have lost what is
// too old today; of one that is forgotten it is looked for once more.
const prunedLately = 100_000

// Trails keeps what happened to codes: a document a code, with its newest entries.
type Trails struct {
	trails *mongo.Collection
	now    func() time.Time
	pruned *recent.Map[string, int64] // a code's ID; the day, in days of Unix time
}

var _ trail.Store = (*Trails)(nil)

// Trails returns the codes' trails.
func (d *Database) Trails() *Trails {
	return &Trails{trails: d.db.Collection(trailsCollection), now: d.now, pruned: recent.NewMap[string, int64](prunedLately)}
}

// trailDoc is a document of the collection trails; its _id is the code's.
type trailDoc struct {
	Tenant  string       `bson:"tenant"`
	Entries []trailEntry `bson:"entries"`
	Refused []trailEntry `bson:"refused"` // those of trail.Refused
}

// The arrays of a trail.
const (
	entriesField = "entries"
	refusedField = "refused"
)

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

	Unknown bool `bson:"y,omitempty"`

	Reason    string    `bson:"r,omitempty"` // the event's
	Message   string    `bson:"i,omitempty"`
	Published time.Time `bson:"p,omitempty"`
	Trace     []byte    `bson:"h,omitempty"`
}

type trailMove struct {
	Staff string        `bson:"s"`
	Came  bool          `bson:"i,omitempty"`
	Why   reason.Reason `bson:"w,omitempty"`
}

// maxTrailDetail bounds what a vendor or a driver says.
const maxTrailDetail = 200

// Append adds entries, with a write a code; a code that gets its first ones of a
// day loses what is too old.
func (t *Trails) Append(ctx context.Context, entries []trail.Noted) error {
	now := t.now()
	var models []mongo.WriteModel
	order, additions := additionsOf(entries)
	for _, ref := range order {
		models = append(models, mongo.NewUpdateOneModel().SetFilter(byID(ref.Code)).SetUpsert(true).SetUpdate(bson.D{
			kv("$push", additions[ref].push()),
			kv("$set", bson.D{kv("tenant", ref.Tenant), kv("last", now)}),
		}))
		models = append(models, t.prune(ref.Code, now)...)
	}
	for chunk := range slices.Chunk(models, batch) {
		if _, err := t.trails.BulkWrite(ctx, chunk, options.BulkWrite().SetOrdered(false)); err != nil {
			return fmt.Errorf("add to the trails of %d codes: %w", len(order), err)
		}
	}
	return nil
}

// trailAdditions are a code's new entries.
type trailAdditions struct{ entries, refused bson.A }

// additionsOf sorts entries by their codes, which it names in the order of their
// first entries.
func additionsOf(entries []trail.Noted) (order []push.Ref, of map[push.Ref]*trailAdditions) {
	of = make(map[push.Ref]*trailAdditions, len(entries))
	for _, n := range entries {
		added := of[n.Ref]
		if added == nil {
			added = &trailAdditions{}
			of[n.Ref] = added
			order = append(order, n.Ref)
		}
		if n.Kind == trail.Refused {
			added.refused = append(added.refused, trailEntryOf(n.Entry))
		} else {
			added.entries = append(added.entries, trailEntryOf(n.Entry))
		}
	}
	return order, of
}

func (a *trailAdditions) push() bson.D {
	var pushed bson.D
	if len(a.entries) > 0 {
		pushed = append(pushed, kv(entriesField, bson.D{kv("$each", a.entries), kv("$slice", -trail.Kept)}))
	}
	if len(a.refused) > 0 {
		pushed = append(pushed, kv(refusedField, bson.D{kv("$each", a.refused), kv("$slice", -trail.KeptRefused)}))
	}
	return pushed
}

// prune removes what is too old from a code's trail, once a day.
func (t *Trails) prune(code string, now time.Time) []mongo.WriteModel {
	today, done := now.Unix()/int64((24*time.Hour).Seconds()), false
	t.pruned.Update(code, func(day int64, known bool) int64 {
		done = known && day == today
		return today
	})
	if done {
		return nil
	}
	old := bson.D{kv("$lt", now.Add(-trail.KeptFor))}
	is := func(field string) bson.D { return bson.D{kv(field, old)} }
	return []mongo.WriteModel{mongo.NewUpdateOneModel().
		SetFilter(append(byID(code), kv("$or", bson.A{is(entriesField + ".0.t"), is(refusedField + ".0.t")}))).
		SetUpdate(bson.D{kv("$pull", bson.D{kv(entriesField, is("t")), kv(refusedField, is("t"))})})}
}

// Of returns a code's entries, oldest first, and none that is too old; of another
// tenant's code none.
func (t *Trails) Of(ctx context.Context, ref push.Ref) ([]trail.Entry, error) {
	doc, found, err := findOne[trailDoc](ctx, t.trails, ref.Code, nil)
	if err != nil || !found || doc.Tenant != ref.Tenant {
		return nil, err
	}
	oldest := t.now().Add(-trail.KeptFor)
	var entries []trail.Entry
	for _, e := range slices.Concat(doc.Entries, doc.Refused) {
		if !e.At.Before(oldest) {
			entries = append(entries, e.entry())
		}
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
		Staff: e.Staff, Count: e.Count, Limit: e.Limit, Unknown: e.Unknown,
		Reason: e.Trigger.Reason, Message: e.Trigger.Message, Published: e.Trigger.PublishedAt,
	}
	out.Trace, _ = hex.DecodeString(e.Trace) // one that is no hex is none
	for _, m := range e.Moves {
		out.Moves = append(out.Moves, trailMove(m))
	}
	return out
}

func (e trailEntry) entry() trail.Entry {
	out := trail.Entry{
		At: e.At.UTC(), Kind: e.Kind, Epoch: e.Epoch, Size: e.Size, Cause: e.Cause, Detail: e.Detail,
		Staff: e.Staff, Count: e.Count, Limit: e.Limit, Unknown: e.Unknown,
		Trigger: trail.Trigger{Reason: e.Reason, Message: e.Message}, Trace: hex.EncodeToString(e.Trace),
	}
	if !e.Until.IsZero() {
		out.Until = e.Until.UTC()
	}
	if !e.Published.IsZero() {
		out.Trigger.PublishedAt = e.Published.UTC()
	}
	for _, m := range e.Moves {
		out.Moves = append(out.Moves, trail.Move(m))
	}
	return out
}
