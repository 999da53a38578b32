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
	"github.com/rollcall-dev/rollcall/internal/trail"
)

const trailsCollection = "trails"

// TrailsKept is how long an entry of a trail is kept.
const TrailsKept = trail.KeptFor

// Trails keeps what happened to codes. A push's entry is a document of its own,
// under its epoch: the push that comes trail.Kept epochs later takes its place, so
// whoever writes it need know nothing of the others, and nothing has to be cleared
// away. Entries of the other kinds, of which most pushes have none, are in a
// document a code and kind.
type Trails struct {
	trails *mongo.Collection
	now    func() time.Time
}

var _ trail.Store = (*Trails)(nil)

// Trails returns the codes' trails.
func (d *Database) Trails() *Trails {
	return &Trails{trails: d.db.Collection(trailsCollection), now: d.now}
}

// trailDoc is a document of the collection trails: of a push, or with Entries.
type trailDoc struct {
	ID      string       `bson:"_id"`
	Tenant  string       `bson:"n"`
	Push    trailEntry   `bson:",inline"` // its time, in either, is when the document was written
	Entries []trailEntry `bson:"a,omitempty"`
}

// No code's ID has a "#".
func pushID(code string, epoch int64) string        { return fmt.Sprintf("%s#%d", code, epoch%trail.Kept) }
func entriesID(code string, kind trail.Kind) string { return code + "#" + string(kind) }

// besides are the kinds that share a document, with how many are kept of each.
var besides = map[trail.Kind]int{trail.Waits: trail.KeptWaits, trail.Full: trail.KeptFull, trail.Refused: trail.KeptRefused}

// trailEntry has short names: there are many.
type trailEntry struct {
	At     time.Time     `bson:"t"`
	Kind   trail.Kind    `bson:"k,omitempty"`
	Epoch  int64         `bson:"e,omitempty"`
	Moves  []trailMove   `bson:"m,omitempty"`
	Size   int           `bson:"z,omitempty"`
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
	Came  bool          `bson:"c,omitempty"`
	Why   reason.Reason `bson:"w,omitempty"`
}

// maxTrailDetail bounds what a vendor or a driver says.
const maxTrailDetail = 200

// Append adds entries, a thousand documents in one write.
func (t *Trails) Append(ctx context.Context, entries []trail.Noted) error {
	for chunk := range slices.Chunk(t.writes(entries), batch) {
		if _, err := t.trails.BulkWrite(ctx, chunk, options.BulkWrite().SetOrdered(false)); err != nil {
			return fmt.Errorf("add %d entries to trails: %w", len(entries), err)
		}
	}
	return nil
}

// beside is what a document of other entries than pushes gets.
type beside struct {
	id, tenant string
	kind       trail.Kind
	entries    bson.A
}

func (t *Trails) writes(entries []trail.Noted) []mongo.WriteModel {
	models := make([]mongo.WriteModel, 0, len(entries))
	var others []*beside
	of := map[string]*beside{}
	for _, n := range entries {
		if n.Kind == trail.Pushed {
			id := pushID(n.Code, n.Epoch)
			models = append(models, mongo.NewReplaceOneModel().SetFilter(byID(id)).SetUpsert(true).
				SetReplacement(trailDoc{ID: id, Tenant: n.Tenant, Push: trailEntryOf(n.Entry)}))
			continue
		}
		id := entriesID(n.Code, n.Kind)
		if of[id] == nil {
			of[id] = &beside{id: id, tenant: n.Tenant, kind: n.Kind}
			others = append(others, of[id])
		}
		of[id].entries = append(of[id].entries, trailEntryOf(n.Entry))
	}
	for _, o := range others {
		models = append(models, mongo.NewUpdateOneModel().SetFilter(byID(o.id)).SetUpsert(true).SetUpdate(bson.D{
			kv("$push", bson.D{kv("a", bson.D{kv("$each", o.entries), kv("$slice", -besides[o.kind])})}),
			kv("$set", bson.D{kv("n", o.tenant), kv("t", t.now())}),
		}))
	}
	return models
}

// Of returns a code's entries, oldest first, none older than TrailsKept; of another
// tenant's code none.
func (t *Trails) Of(ctx context.Context, ref push.Ref) ([]trail.Entry, error) {
	ids := make([]string, 0, trail.Kept+len(besides))
	for epoch := range int64(trail.Kept) {
		ids = append(ids, pushID(ref.Code, epoch))
	}
	for kind := range besides {
		ids = append(ids, entriesID(ref.Code, kind))
	}
	docs, err := findByIDs(ctx, t.trails, ids, nil)
	if err != nil {
		return nil, fmt.Errorf("read the trail of %s: %w", ref.Code, err)
	}
	var pushes, entries []trail.Entry
	for _, raw := range docs {
		var doc trailDoc
		if err := bson.Unmarshal(raw, &doc); err != nil {
			return nil, fmt.Errorf("read the trail of %s: %w", ref.Code, err)
		}
		if doc.Tenant != ref.Tenant {
			continue
		}
		if doc.Push.Kind == trail.Pushed {
			pushes = append(pushes, doc.Push.entry())
		}
		for _, e := range doc.Entries {
			entries = append(entries, e.entry())
		}
	}
	entries = append(entries, newest(pushes)...)
	oldest := t.now().Add(-TrailsKept)
	entries = slices.DeleteFunc(entries, func(e trail.Entry) bool { return e.At.Before(oldest) })
	slices.SortStableFunc(entries, byTime) // several processes write: they arrive almost in order
	return entries, nil
}

func byTime(a, b trail.Entry) int { return a.At.Compare(b.At) }

// newest leaves out pushes that others of their time are missing around: an epoch
// without a push leaves an old one where it is, and a database that was restored
// counts on from an earlier epoch.
func newest(pushes []trail.Entry) []trail.Entry {
	if len(pushes) == 0 {
		return nil
	}
	last := slices.MaxFunc(pushes, byTime).Epoch
	return slices.DeleteFunc(pushes, func(e trail.Entry) bool { return e.Epoch > last || e.Epoch <= last-trail.Kept })
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
