package mongostore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/shadow"
)

// shadowsCollection is Rollcall's own.
const shadowsCollection = "shadows"

// The fields of the two sides, and of what is due.
const (
	oursField    = "ours"
	theirsField  = "theirs"
	changesField = "changes"
	changedField = "changed"
)

// Shadows is shadow.Store and shadow.Directory on MongoDB. It is push.Shadows
// too.
type Shadows struct {
	shadows *mongo.Collection
	codes   *mongo.Collection
	tenants *mongo.Collection
	now     func() time.Time
}

var (
	_ shadow.Store     = (*Shadows)(nil)
	_ shadow.Directory = (*Shadows)(nil)
)

// Shadows returns the store of what Rollcall would have pushed, and of what
// others did.
func (d *Database) Shadows() *Shadows {
	return &Shadows{
		shadows: d.db.Collection(shadowsCollection), codes: d.db.Collection(codesCollection),
		tenants: d.db.Collection(tenantsCollection), now: d.now,
	}
}

// Note stores a shadow unless a later one is stored. While the list stays it is
// one round trip.
func (s *Shadows) Note(ctx context.Context, ref push.Ref, ours push.Shadow) error {
	_, err := s.put(ctx, ref, side{oursField, listKey(ours.Members, 0), ours.At, oursDocOf(ours)})
	if err != nil {
		return fmt.Errorf("note the shadow of code %s: %w", ref.Code, err)
	}
	return nil
}

// Reported stores a list unless a later one is stored.
func (s *Shadows) Reported(ctx context.Context, ref push.Ref, theirs shadow.Reported) (shadow.Reception, error) {
	reception, err := s.put(ctx, ref, side{theirsField, listKey(theirs.Members, theirs.Term), theirs.At, theirsDocOf(theirs)})
	if err != nil {
		return "", fmt.Errorf("store what was pushed for code %s: %w", ref.Code, err)
	}
	return reception, nil
}

// side is a list to be stored in one of the two places.
type side struct {
	field string
	list  string // its key
	at    time.Time
	doc   any
}

// put writes a side: over the same list, which is no change, or over another one
// that is not later. Neither condition holds while a later one is stored, or when
// another writer came between the two.
func (s *Shadows) put(ctx context.Context, ref push.Ref, one side) (shadow.Reception, error) {
	id, set := refID(ref), kv("$set", bson.D{kv(one.field, one.doc)})
	list, at := one.field+".list", one.field+".at"
	for range upsertAttempts {
		same, err := updateIf(ctx, s.shadows,
			bson.D{kv("_id", id), kv(list, one.list), kv(at, bson.D{kv("$lte", one.at)})}, bson.D{set})
		if same || err != nil {
			return shadow.Repeated, err
		}
		other, err := upsertIf(ctx, s.shadows,
			bson.D{kv("_id", id), kv(list, bson.D{kv("$ne", one.list)}), before(at, one.at.Add(time.Millisecond))},
			bson.D{
				set, kv("$setOnInsert", owner(ref)), kv("$inc", bson.D{kv(changesField, int64(1))}),
				kv("$max", bson.D{kv(changedField, s.now())}),
			})
		if other || err != nil {
			return shadow.Recorded, err
		}
		later, err := s.shadows.CountDocuments(ctx, bson.D{kv("_id", id), kv(at, bson.D{kv("$gt", one.at)})})
		if later > 0 || err != nil {
			return shadow.Outdated, err
		}
	}
	return "", errContended
}

// listKey tells one list from another, and from itself in another term.
func listKey(members []string, term int64) string {
	text := strconv.FormatInt(term, 10) + "\x00" + strings.Join(members, "\x00") // no ID holds a zero byte
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Due returns states that changed by an instant.
func (s *Shadows) Due(ctx context.Context, changed time.Time, limit int) ([]shadow.State, error) {
	docs, err := findAll[shadowDoc](ctx, s.shadows,
		bson.D{kv(changedField, bson.D{kv("$lte", changed)})}, page(limit).SetSort(bson.D{kv(changedField, 1)}))
	states := make([]shadow.State, 0, len(docs))
	for _, doc := range docs {
		states = append(states, doc.state())
	}
	return states, err
}

// Settle ends the look at a state.
func (s *Shadows) Settle(ctx context.Context, seen shadow.State, c shadow.Comparison) (bool, error) {
	filter := bson.D{kv("_id", refID(seen.Ref)), kv(changesField, seen.Changes), present(changedField)}
	unset := bson.D{kv(changedField, "")}
	for _, day := range c.Pruned {
		unset = append(unset, kv("days."+string(day), ""))
	}
	update := merge(bson.D{
		kv("$set", bson.D{kv("verdict", verdictDocOf(c.Verdict))}), kv("$unset", unset),
	}, "$inc", comparisonCounts(c))
	settled, err := updateIf(ctx, s.shadows, filter, update)
	if err != nil {
		return false, fmt.Errorf("settle code %s: %w", seen.Code, err)
	}
	return settled, nil
}

// comparisonCounts is what a comparison adds to the days.
func comparisonCounts(c shadow.Comparison) bson.D {
	var counts bson.D
	for _, day := range c.Standing {
		counts = append(counts, kv("days."+string(day)+".standing", 1))
	}
	if c.Day == "" {
		return counts
	}
	day := "days." + string(c.Day) + "."
	counts = append(counts, kv(day+"compared", 1))
	switch c.Outcome {
	case shadow.Match:
		counts = append(counts, kv(day+"matched", 1))
	case shadow.Mismatch:
		counts = append(counts, kv(day+"mismatched", 1))
		for _, cause := range shadow.Causes(c.Differences) {
			counts = append(counts, kv(day+"causes."+cause.String(), 1))
		}
	case shadow.NoVerdict: // compared, and no more
	}
	return counts
}

// States reads those of some codes, in one round trip.
func (s *Shadows) States(ctx context.Context, tenant string, codes []string) (map[string]shadow.State, error) {
	ids := make([]string, len(codes))
	for i, code := range codes {
		ids[i] = scoped(tenant, code)
	}
	slices.Sort(ids)
	docs, err := findAll[shadowDoc](ctx, s.shadows, bson.D{kv("_id", bson.D{kv("$in", ids)})},
		page(len(ids)).SetProjection(bson.D{kv(oursField+".why", 0)}))
	states := make(map[string]shadow.State, len(docs))
	for _, doc := range docs {
		states[doc.Code] = doc.state()
	}
	return states, err
}
