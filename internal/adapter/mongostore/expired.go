package mongostore

import (
	"context"
	"fmt"
	"iter"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// expiredBatch is how many codes one round trip brings.
const expiredBatch = 1000

// expiredFields are all that is asked of a record: its list may be long.
var expiredFields = bson.D{kv("_id", 0), kv("tenant", 1), kv("code", 1)}

// Expired yields the codes that have an intent with a deadline at or after from
// and before before, each once, in no order. It ends with an error, or yields
// none.
//
// The bounds are those of one intent ($elemMatch), so that the index of the
// deadlines is read within them only; without an order there is no other index
// to be tempted by. What it costs grows with the intents found, not with the
// records there are.
func (s *Store) Expired(ctx context.Context, from, before time.Time) iter.Seq2[push.Ref, error] {
	return func(yield func(push.Ref, error) bool) {
		within := bson.D{kv("deadline", bson.D{kv("$gte", from), kv("$lt", before)})}
		cursor, err := s.records.Find(ctx, bson.D{kv("intents", bson.D{kv("$elemMatch", within)})},
			options.Find().SetProjection(expiredFields).SetBatchSize(expiredBatch))
		if err != nil {
			yield(push.Ref{}, fmt.Errorf("find expired intents: %w", err))
			return
		}
		defer func() { _ = cursor.Close(context.WithoutCancel(ctx)) }() // a server closes it by itself after a while
		for cursor.Next(ctx) {
			var doc struct{ Tenant, Code string }
			err := cursor.Decode(&doc)
			if !yield(push.Ref{Tenant: doc.Tenant, Code: doc.Code}, err) || err != nil {
				return
			}
		}
		if err := cursor.Err(); err != nil {
			yield(push.Ref{}, fmt.Errorf("find expired intents: %w", err))
		}
	}
}
