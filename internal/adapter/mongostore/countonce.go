package mongostore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/rollcall-dev/rollcall/internal/quota"
)

// countedField holds, in the counters of a code and in a staff member, the IDs
// of the additions that are counted there and may be counted again: a condition
// of the increment, in the same document and therefore in one write.
const countedField = "counted"

// Count counts an addition on its code and on its staff member, each once.
func (q *Quota) Count(ctx context.Context, pair quota.Pair, a quota.Addition) (quota.Counts, error) {
	day, err := time.Parse("20060102", string(a.Day))
	if err != nil {
		return quota.Counts{}, fmt.Errorf("count an addition on code %s: day %q is not YYYYMMDD", a.Code, a.Day)
	}
	// The member first: a draw that the code has counted is taken for one that
	// the company has counted too.
	ofStaff, err := q.countOnStaff(ctx, pair, a, day)
	if err != nil {
		return quota.Counts{}, fmt.Errorf("count an addition on code %s: %w", a.Code, err)
	}
	ofCode, err := q.countOnCode(ctx, pair, a, day)
	if err != nil {
		return quota.Counts{}, fmt.Errorf("count an addition on code %s: %w", a.Code, err)
	}
	staff := fieldName(pair.Staff)
	return quota.Counts{
		Total: ofCode.Total[staff], OnDay: ofCode.Days[string(a.Day)][staff], Company: ofStaff.Added[string(a.Day)],
	}, nil
}

func (q *Quota) countOnCode(ctx context.Context, pair quota.Pair, a quota.Addition, day time.Time) (countersDoc, error) {
	staff := fieldName(pair.Staff)
	total, onDay := "total."+staff, "days."+string(a.Day)+"."+staff
	update := bson.D{
		kv("$inc", bson.D{kv(total, 1), kv(onDay, 1), kv("in_round."+staff, 1)}),
		kv("$push", bson.D{kv(countedField, a.ID)}),
		kv("$unset", prunedDays("days", day)),
		kv("$setOnInsert", bson.D{kv("tenant", pair.Tenant)}),
	}
	show := fields([]string{total, onDay})
	filter := uncounted(a.Code, a.ID)
	for range upsertAttempts {
		doc, err := findAndUpdate[countersDoc](ctx, q.counters, filter, update, show, options.FindOneAndUpdate().SetUpsert(true))
		if err == nil {
			return doc, nil
		}
		// There is a document: either it has counted this addition, or another
		// writer has just made it.
		if !mongo.IsDuplicateKeyError(err) {
			return countersDoc{}, err
		}
		doc, err = findAndUpdate[countersDoc](ctx, q.counters, filter, update, show, options.FindOneAndUpdate())
		if err == nil {
			return doc, nil
		}
		if !errors.Is(err, mongo.ErrNoDocuments) {
			return countersDoc{}, err
		}
		doc, found, err := counted[countersDoc](ctx, q.counters, a.Code, a.ID, show)
		if found || err != nil {
			return doc, err
		}
	}
	return countersDoc{}, errContended
}

// countOnStaff counts nothing for somebody who is not known: no list has him.
//
// That no document was updated says nothing yet: it may have counted the
// addition, or there may be none, or the server may have missed it beside another
// writer. Only a document with the addition in it counts as counted.
func (q *Quota) countOnStaff(ctx context.Context, pair quota.Pair, a quota.Addition, day time.Time) (staffDoc, error) {
	id, added := scoped(pair.Tenant, pair.Staff), "added."+string(a.Day)
	show := fields([]string{added})
	missing := 0
	for range upsertAttempts {
		doc, err := findAndUpdate[staffDoc](ctx, q.staff, uncounted(id, a.ID), bson.D{
			kv("$inc", bson.D{kv(added, 1)}),
			kv("$push", bson.D{kv(countedField, a.ID)}),
			kv("$unset", prunedDays("added", day)),
		}, show, options.FindOneAndUpdate())
		if !errors.Is(err, mongo.ErrNoDocuments) {
			return doc, err
		}
		doc, found, err := counted[staffDoc](ctx, q.staff, id, a.ID, show)
		if found || err != nil {
			return doc, err
		}
		_, there, err := findOne[staffDoc](ctx, q.staff, id, show)
		if err != nil {
			return staffDoc{}, err
		}
		if there {
			continue
		}
		if missing++; missing == 2 {
			return staffDoc{}, nil
		}
	}
	return staffDoc{}, errContended
}

// counted reads a document that has counted an addition.
func counted[T any](ctx context.Context, from *mongo.Collection, id, addition string, show bson.D) (T, bool, error) {
	var doc T
	err := from.FindOne(ctx, bson.D{kv("_id", id), kv(countedField, addition)}, options.FindOne().SetProjection(show)).Decode(&doc)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return doc, false, nil
	}
	return doc, err == nil, err
}

// uncounted finds a document that has not counted an addition.
func uncounted(id, addition string) bson.D {
	return bson.D{kv("_id", id), kv(countedField, bson.D{kv("$ne", addition)})}
}

func findAndUpdate[T any](ctx context.Context, in *mongo.Collection, filter, update, show bson.D, opts *options.FindOneAndUpdateOptionsBuilder) (T, error) {
	var doc T
	err := in.FindOneAndUpdate(ctx, filter, update, opts.SetReturnDocument(options.After).SetProjection(show)).Decode(&doc)
	return doc, err
}

// Forget takes additions off the lists of those counted, a write a code and a
// write a staff member.
func (q *Quota) Forget(ctx context.Context, done []quota.Counting) error {
	codes, staff := map[string][]string{}, map[string][]string{}
	for _, c := range done {
		id := scoped(c.Tenant, c.Staff)
		codes[c.Code] = append(codes[c.Code], c.ID)
		staff[id] = append(staff[id], c.ID)
	}
	if err := errors.Join(forget(ctx, q.counters, codes), forget(ctx, q.staff, staff)); err != nil {
		return fmt.Errorf("forget additions that are done: %w", err)
	}
	return nil
}

func forget(ctx context.Context, in *mongo.Collection, counted map[string][]string) error {
	var models []mongo.WriteModel
	for id, additions := range counted {
		models = append(models, mongo.NewUpdateOneModel().SetFilter(byID(id)).SetUpdate(bson.D{
			kv("$pull", bson.D{kv(countedField, bson.D{kv("$in", additions)})}),
		}))
	}
	for chunk := range slices.Chunk(models, batch) {
		if _, err := in.BulkWrite(ctx, chunk, options.BulkWrite().SetOrdered(false)); err != nil {
			return err
		}
	}
	return nil
}
