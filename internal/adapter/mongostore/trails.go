package mongostore

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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

// A code's entries are dealt out over a few small documents, its pages, in turn: a
// write of an entry rewrites its document, and one with all entries costs several
// times as much. In each page the oldest makes room for the newest, and with it
// the oldest of all, or nearly.
const (
	trailPages    = 8
	trailPageSize = trail.Kept / trailPages
)

// trailsRemembered is how many pages are remembered from which what is too old was
// removed today, and of how many codes the page that is next.
const trailsRemembered = 100_000

// Trails keeps what happened to codes.
type Trails struct {
	trails *mongo.Collection
	now    func() time.Time
	next   *recent.Map[string, int]   // a code's page after the last one written
	pruned *recent.Map[string, int64] // a page's ID; the day, in days of Unix time
}

var _ trail.Store = (*Trails)(nil)

// Trails returns the codes' trails.
func (d *Database) Trails() *Trails {
	return &Trails{
		trails: d.db.Collection(trailsCollection), now: d.now,
		next: recent.NewMap[string, int](trailsRemembered), pruned: recent.NewMap[string, int64](trailsRemembered),
	}
}

// trailDoc is a document of the collection trails: a page, whose _id is the code's
// and "#" and its number; the refusals, with "#refused"; or, with the _id of the
// code alone, all entries as a build without pages wrote them.
type trailDoc struct {
	ID      string       `bson:"_id"`
	Tenant  string       `bson:"tenant"`
	Entries []trailEntry `bson:"entries"`
}

// No code's ID has a "#".
func trailPage(code string, page int) string { return fmt.Sprintf("%s#%d", code, page) }
func trailRefusals(code string) string       { return code + "#refused" }

// trailRoom is how many entries a document has room for.
func trailRoom(id string) int {
	switch {
	case strings.HasSuffix(id, "#refused"):
		return trail.KeptRefused
	case strings.Contains(id, "#"):
		return trailPageSize
	}
	return trail.Kept
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

// Append adds entries, each to a page; a page that gets its first ones of a day
// loses what is too old.
func (t *Trails) Append(ctx context.Context, entries []trail.Noted) error {
	now := t.now()
	var models []mongo.WriteModel
	for _, added := range t.dealt(entries) {
		models = append(models, mongo.NewUpdateOneModel().SetFilter(byID(added.page)).SetUpsert(true).SetUpdate(bson.D{
			kv("$push", bson.D{kv("entries", bson.D{kv("$each", added.entries), kv("$slice", -trailRoom(added.page))})}),
			kv("$set", bson.D{kv("tenant", added.tenant), kv("last", now)}),
		}))
		models = append(models, t.prune(added.page, now)...)
	}
	for chunk := range slices.Chunk(models, batch) {
		if _, err := t.trails.BulkWrite(ctx, chunk, options.BulkWrite().SetOrdered(false)); err != nil {
			return fmt.Errorf("add %d entries to trails: %w", len(entries), err)
		}
	}
	return nil
}

// trailAddition is what a page gets.
type trailAddition struct {
	page, tenant string
	entries      bson.A
}

// dealt deals entries out over their codes' pages, in turn.
func (t *Trails) dealt(entries []trail.Noted) []*trailAddition {
	var all []*trailAddition
	of := make(map[string]*trailAddition, len(entries))
	for _, n := range entries {
		page := trailRefusals(n.Code)
		if n.Kind != trail.Refused {
			page = trailPage(n.Code, t.turn(n.Code))
		}
		if of[page] == nil {
			of[page] = &trailAddition{page: page, tenant: n.Tenant}
			all = append(all, of[page])
		}
		of[page].entries = append(of[page].entries, trailEntryOf(n.Entry))
	}
	return all
}

// turn is the page that gets a code's next entry. Of a code that is not remembered
// it is any.
func (t *Trails) turn(code string) (page int) {
	t.next.Update(code, func(next int, known bool) int {
		if page = next; !known {
			page = rand.IntN(trailPages)
		}
		return (page + 1) % trailPages
	})
	return page
}

// prune removes what is too old from a page, once a day.
func (t *Trails) prune(page string, now time.Time) []mongo.WriteModel {
	today, done := now.Unix()/int64((24*time.Hour).Seconds()), false
	t.pruned.Update(page, func(day int64, known bool) int64 {
		done = known && day == today
		return today
	})
	if done {
		return nil
	}
	old := bson.D{kv("$lt", now.Add(-trail.KeptFor))}
	return []mongo.WriteModel{mongo.NewUpdateOneModel().SetFilter(byID(page)).
		SetUpdate(bson.D{kv("$pull", bson.D{kv("entries", bson.D{kv("t", old)})})})}
}

// Of returns a code's entries, oldest first, as far back as none is missing and
// none is too old; of another tenant's code none.
func (t *Trails) Of(ctx context.Context, ref push.Ref) ([]trail.Entry, error) {
	ids := bson.A{ref.Code, trailRefusals(ref.Code)}
	for page := range trailPages {
		ids = append(ids, trailPage(ref.Code, page))
	}
	docs, err := findAll[trailDoc](ctx, t.trails, bson.D{kv("_id", bson.D{kv("$in", ids)})}, options.Find())
	if err != nil {
		return nil, fmt.Errorf("read the trail of %s: %w", ref.Code, err)
	}
	docs = slices.DeleteFunc(docs, func(d trailDoc) bool { return d.Tenant != ref.Tenant })
	oldest := t.now().Add(-trail.KeptFor)
	for _, doc := range docs {
		oldest = laterOf(oldest, doc.complete())
	}
	var entries []trail.Entry
	for _, doc := range docs {
		for _, e := range doc.Entries {
			if !e.At.Before(oldest) || (e.Kind == trail.Refused && !e.At.Before(t.now().Add(-trail.KeptFor))) {
				entries = append(entries, e.entry())
			}
		}
	}
	// Several processes write: they arrive almost in order.
	slices.SortStableFunc(entries, func(a, b trail.Entry) int { return a.At.Compare(b.At) })
	return entries, nil
}

// complete is since when a page has all that it was given: one that is full has
// lost what was before its first entry, in between others' of that time. A trail
// does not have to have all refusals.
func (d trailDoc) complete() time.Time {
	if len(d.Entries) < trailRoom(d.ID) || strings.HasSuffix(d.ID, "#refused") {
		return time.Time{}
	}
	first := d.Entries[0].At
	for _, e := range d.Entries {
		if e.At.Before(first) {
			first = e.At
		}
	}
	return first
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
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
