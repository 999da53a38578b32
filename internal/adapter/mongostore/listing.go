package mongostore

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// CodeRecord is a record and the code it is of.
type CodeRecord struct {
	push.Ref
	Record push.Record
}

// The listings below page through records in the order of their _ids: pass the
// last Ref of a page to get the next one, the zero Ref to begin. A page holds
// at most limit records, at least 1.

// ListNoted returns records whose last committed verdict had something to say
// (Committed.Notes).
func (s *Store) ListNoted(ctx context.Context, after push.Ref, limit int) ([]CodeRecord, error) {
	return s.list(ctx, limit, after, kv("committed.notes", bson.D{kv("$exists", true)}))
}

// ListFailures returns records with a run of failures.
func (s *Store) ListFailures(ctx context.Context, after push.Ref, limit int) ([]CodeRecord, error) {
	return s.list(ctx, limit, after, kv("failure.streak", bson.D{kv("$gt", 0)}))
}

func (s *Store) list(ctx context.Context, limit int, after push.Ref, condition bson.E) ([]CodeRecord, error) {
	docs, err := findAll[recordDoc](ctx, s.records,
		append(afterRef(after), condition), page(limit).SetSort(bson.D{kv("_id", 1)}))
	found := make([]CodeRecord, 0, len(docs))
	for _, doc := range docs {
		found = append(found, CodeRecord{Ref: push.Ref{Tenant: doc.Tenant, Code: doc.Code}, Record: doc.record()})
	}
	return found, err
}
